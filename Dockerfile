# The exporter in Debian's smallest image, installed from its own package: what it needs stands in the package, and
# scanners find every package in dpkg's list.
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse --short HEAD) -t rdma-exporter .
#   docker run --rm --read-only --network=host --pid=host --cap-drop=ALL rdma-exporter
# Without a HEALTHCHECK: Kubernetes has its own and ignores it, images in OCI's format cannot have one, and nothing in
# this one speaks HTTP but the exporter, whose /-/healthy is for who asks from outside.
FROM docker.io/library/debian:bookworm-slim AS build
WORKDIR /source
COPY scripts/bootstrap scripts/packages.txt scripts/
RUN scripts/bootstrap package
COPY . .
ARG REVISION=unknown
# Of the files in the package; give it for an image that is the same each time.
ARG SOURCE_DATE_EPOCH=0
RUN WITHOUT_TESTS=1 scripts/package /packages DEB

FROM docker.io/library/debian:bookworm-slim
# Recommended by the package, and asked for: the RDMA MTU and asynchronous events of every vendor's devices.
RUN --mount=type=bind,from=build,source=/packages,target=/packages \
    apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ibverbs-providers /packages/*.deb && \
    rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="rdma_exporter" \
      org.opencontainers.image.description="Prometheus exporter for hosts with RDMA devices" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
USER 65534:65534
EXPOSE 9400
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/rdma_exporter"]
