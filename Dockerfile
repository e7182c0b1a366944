# A static binary alone in its image. Build: docker build --build-arg VERSION=$(git describe --tags --always) --build-arg COMMIT=$(git rev-parse HEAD) -t footnote .
# Every request needs a key, and there is none at first. Two commands start a server and make the first key:
#   docker run -d --name footnote -p 127.0.0.1:8080:8080 -v footnote:/data footnote
#   docker exec footnote /footnote key new anna
FROM node:22-bookworm-slim AS browser
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund --omit=optional
COPY static ./static
RUN npm run vendor

FROM golang:1.26-bookworm AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS="-buildvcs=false -gcflags=github.com/openai/openai-go/v3/...=-l -gcflags=github.com/anthropics/anthropic-sdk-go/...=-l"
COPY go.mod go.sum ./
COPY corpus/milvus/grpcretry ./corpus/milvus/grpcretry
RUN go mod download
COPY . .
COPY --from=browser /src/static/vendor ./static/vendor
ARG VERSION=dev
ARG COMMIT=
ARG DATE=
ARG REPOSITORY=
# TAGS=grpcnotrace,retrynotrace,eino puts the agent framework Eino in (see the Makefile).
ARG TAGS=grpcnotrace,retrynotrace
RUN go build -tags "$TAGS" -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT -X main.date=$DATE -X main.repository=$REPOSITORY" -o bin/footnote ./cmd/footnote
RUN mkdir -p /empty/data /empty/blobs /empty/keys /empty/tmp && chmod 1777 /empty/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /usr/share/zoneinfo /usr/share/zoneinfo
COPY --from=build --chown=65532:65532 /empty/ /
COPY --from=build /src/bin/footnote /footnote
USER 65532:65532
ENV FOOTNOTE_ADDR=0.0.0.0:8080 FOOTNOTE_DATA=/data FOOTNOTE_KEYS=/data/keys
# The root may be read-only: what is kept lies in the volume, and PDFs pass through /tmp (give it a tmpfs then).
VOLUME ["/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["/footnote", "doctor", "--health"]
ENTRYPOINT ["/footnote"]
CMD ["serve"]
