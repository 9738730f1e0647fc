#!/bin/sh
# Makes the certificates of the tests in the current directory, with the tool that operators use.
set -eu
exec >&2

authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
    -subj "/CN=$1" -keyout "$1.key" -out "$1.pem"
}

# NAME CA SUBJECT_ALT_NAMES [FROM UNTIL]
certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
    -addext "subjectAltName=$3" -keyout "$1.key" -out "$1.csr"
  : >index.txt
  openssl ca -batch -config ca.cnf -cert "$2.pem" -keyfile "$2.key" -notext \
    ${4:+-startdate "$4" -enddate "$5"} -in "$1.csr" -out "$1.pem"
}

cat >ca.cnf <<'CNF'
[ca]
default_ca = one
[one]
database = index.txt
rand_serial = yes
new_certs_dir = .
default_md = sha256
default_days = 2
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
CNF

authority ca
authority other_ca
certificate server ca DNS:localhost,IP:127.0.0.1,IP:::1
certificate elsewhere ca DNS:etcd-0.example,IP:10.1.2.3
certificate expired ca IP:127.0.0.1 20200101000000Z 20200201000000Z
certificate other_server other_ca IP:127.0.0.1
certificate client ca DNS:client
openssl pkey -in client.key -aes256 -passout pass:secret -out encrypted.key
