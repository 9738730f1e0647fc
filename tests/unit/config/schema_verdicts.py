"""Reads {"schema": ..., "documents": [...]} and prints `accept` or `reject` for each document.

The validator is Debian's python3-jsonschema. Exit status 3: it is not installed.
"""

import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(3)

with open(sys.argv[1], encoding="utf-8") as source:
    case = json.load(source)
jsonschema.Draft7Validator.check_schema(case["schema"])
validator = jsonschema.Draft7Validator(case["schema"])
for document in case["documents"]:
    print("accept" if validator.is_valid(document) else "reject")
