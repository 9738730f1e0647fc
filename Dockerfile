# The image of Tenure: one static binary and the certificates of public CAs, nothing else (docs/image.md).
#
#     docker build -t tenure .
#     docker build -t tenure --platform linux/arm64 .       # on any machine: cross-compiled, not emulated
#
# BuildKit is needed. `./dev image` does the same on a base that it makes itself, and checks the result.

ARG BASE=debian:bookworm-slim
# BASE is for the machine that builds.
FROM --platform=$BUILDPLATFORM ${BASE} AS build
ARG TARGETARCH
WORKDIR /tenure
# Packages change less often than sources.
COPY dev ./
COPY packaging/apt packaging/
RUN ./dev packages --arch "$TARGETARCH" ccache python3
# Those of Debian's package: a base may trust others besides.
RUN mkdir -p /image/etc/ssl/certs && \
    cat /usr/share/ca-certificates/mozilla/*.crt >/image/etc/ssl/certs/ca-certificates.crt
COPY . .
ARG COMMIT=""
RUN --mount=type=cache,id=tenure-ccache,target=/root/.cache/ccache \
    TENURE_COMMIT="$COMMIT" ./dev build --arch "$TARGETARCH" && cp build/*/tenure /image/tenure

# `--target sbom` leaves only what is linked into the program (docs/release.md).
FROM build AS described
ARG SOURCE_DATE_EPOCH=0
RUN mkdir /sbom && SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" packaging/sbom build/*/ >/sbom/tenure.spdx.json
FROM scratch AS sbom
COPY --from=described /sbom /

FROM scratch
ARG COMMIT=""
ARG VERSION=""
LABEL org.opencontainers.image.title="tenure" \
      org.opencontainers.image.description="Leader election that stops the old leader" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.version="$VERSION"
COPY --from=build /image /
# A number, so that the kubelet can see that it is not root.
USER 65532:65532
ENTRYPOINT ["/tenure"]
