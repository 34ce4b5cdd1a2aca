# Halyard as a container: one executable on a base that has glibc and nothing else, not even a shell.
#
#   docker build -t halyard .
#   docker buildx build --platform linux/amd64,linux/arm64 -t registry.example.com/halyard --push .     for both processors
#   docker run -p 127.0.0.1:7070:7070 -v halyard-data:/data halyard
#   docker exec <container> halyard project create demo
#
#   docker exec <container> halyard operator invite you@example.com --role admin
#
# The last prints the link that makes the first administrator of the dashboard, which is at http://127.0.0.1:7070.

# On the processor of the machine that builds, because Bun compiles for the others, and emulation is slow.
FROM --platform=$BUILDPLATFORM oven/bun:1.4.5-slim AS build
WORKDIR /build
COPY . .
# The repository is not copied: docker build --build-arg HALYARD_COMMIT=$(git rev-parse --short=12 HEAD) .
ARG HALYARD_COMMIT
ARG TARGETARCH
# Builds dist/halyard, the dashboard in it, and, for the processor of this machine, tries it: serving, command line, stream, screens,
# documentation.
RUN bun install --frozen-lockfile --production --ignore-scripts && \
  bun run build --target linux-$(echo ${TARGETARCH:-$(uname -m)} | sed 's/amd64\|x86_64/x64/; s/aarch64/arm64/') && mkdir /empty

FROM gcr.io/distroless/base-debian12:nonroot
COPY --from=build /build/dist/halyard /usr/local/bin/halyard
COPY --from=build /build/LICENSE /build/dist/THIRD-PARTY-NOTICES /usr/share/doc/halyard/
ARG HALYARD_VERSION=unknown
ARG HALYARD_COMMIT=unknown
ARG HALYARD_CREATED=unknown
LABEL org.opencontainers.image.title="Halyard" \
      org.opencontainers.image.description="Self-hosted feature flags over HTTP" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.source="https://github.com/halyard-flags/halyard" \
      org.opencontainers.image.version="$HALYARD_VERSION" \
      org.opencontainers.image.revision="$HALYARD_COMMIT" \
      org.opencontainers.image.created="$HALYARD_CREATED"
# The owner must be right before the volume is made: a new volume takes it over.
COPY --from=build --chown=65532:65532 /empty /data
VOLUME /data

# Bare: an image is run for real flags, not for a demo. Five seconds of draining fit into the ten that
# `docker stop` gives by default.
ENV HALYARD_HOST=0.0.0.0 \
    HALYARD_PORT=7070 \
    HALYARD_DATA=/data \
    HALYARD_BARE=true \
    HALYARD_LOG_FORMAT=json \
    HALYARD_DRAIN_SECONDS=5
EXPOSE 7070
# The user nonroot, as a number: Kubernetes cannot see that a name is not root.
USER 65532:65532
WORKDIR /data

# Liveness, not readiness: while the database is away no node is ready, but each one still answers reads. Whatever acts
# on this check must not restart or remove them all. Asks /healthz on HALYARD_PORT; there is no other program to ask.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --start-interval=1s --retries=3 \
  CMD ["/usr/local/bin/halyard", "doctor", "--liveness"]

# Exec form: SIGTERM reaches the program itself.
ENTRYPOINT ["/usr/local/bin/halyard"]
CMD ["serve"]
