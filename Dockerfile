# The portable exporter with the files that it needs and nothing else: no shell, no package manager.
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse --short HEAD) -t rdma-exporter .
#   docker run --rm --read-only --network=host --pid=host --cap-drop=ALL rdma-exporter
# Without a HEALTHCHECK: Kubernetes has its own and ignores it, images in OCI's format cannot have one, and this one
# contains no HTTP client. Query /-/healthy from outside.
# For amd64 and arm64; the program for the other one is cross-compiled: docker build --platform=linux/arm64.
FROM --platform=$BUILDPLATFORM docker.io/library/debian:bookworm-slim AS build
WORKDIR /source
ARG TARGETARCH
ENV DEB_HOST_ARCH=$TARGETARCH
COPY scripts/bootstrap scripts/packages.txt scripts/packages.arm64.txt scripts/
RUN scripts/bootstrap package
COPY . .
ARG REVISION=unknown
# The modification time of the files in the package; set it for a reproducible image.
ARG SOURCE_DATE_EPOCH=0
RUN WITHOUT_TESTS=1 scripts/package /packages TGZ

FROM --platform=$BUILDPLATFORM docker.io/library/debian:bookworm-slim AS root
ARG TARGETARCH
COPY deploy/image/make-root /
ARG SOURCE_DATE_EPOCH=0
RUN --mount=type=bind,from=build,source=/packages,target=/packages \
    dpkg --add-architecture "${TARGETARCH:=$(dpkg --print-architecture)}" && \
    apt-get update -qq && /make-root /root/image /packages/rdma_exporter-*.tar.gz "$TARGETARCH" && \
    cp /packages/rdma_exporter.*.cdx.json /root/image/usr/share/rdma-exporter/sbom.cdx.json

FROM scratch
COPY --from=root /root/image /
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="rdma_exporter" \
      org.opencontainers.image.description="Prometheus exporter for hosts with RDMA devices" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
USER 65534:65534
EXPOSE 9400
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/rdma_exporter"]
