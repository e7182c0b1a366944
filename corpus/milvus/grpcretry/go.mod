module github.com/grpc-ecosystem/go-grpc-middleware

go 1.26

require (
	github.com/grpc-ecosystem/go-grpc-middleware/v2 v2.3.4
	google.golang.org/grpc v1.84.0
)
