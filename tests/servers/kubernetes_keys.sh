#!/bin/sh
# kubernetes_keys.sh FOLDER: makes there what an API server needs: a CA, a certificate for 127.0.0.1,
# the key pair for the tokens of service accounts, and a certificate of the user "member".
set -eu
cd "$1"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
  -subj /CN=ca -keyout ca.key -out ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=kube-apiserver \
  -keyout server.key -out server.csr
echo subjectAltName=DNS:localhost,IP:127.0.0.1 >names
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
  -extfile names -out server.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=member \
  -keyout member.key -out member.csr
openssl x509 -req -in member.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out member.pem
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out accounts.key
openssl pkey -in accounts.key -pubout -out accounts.pub
