package milvus

import (
	"context"
	"sync"

	"github.com/milvus-io/milvus-proto/go-api/v2/milvuspb"
	"google.golang.org/grpc"
)

// sessions makes hybrid searches keep the level Session: the client library sends them without the time of our last write, and then Milvus
// does not wait for it. It notes that time from each answer to a write, and sets it in each hybrid search. It is safe for concurrent use.
type sessions struct {
	mu      sync.Mutex
	written map[string]uint64 // by collection
}

// intercept is a grpc.UnaryClientInterceptor.
func (s *sessions) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if search, ok := request.(*milvuspb.HybridSearchRequest); ok {
		s.mu.Lock()
		search.GuaranteeTimestamp = s.written[search.GetCollectionName()]
		s.mu.Unlock()
	}
	err := invoke(ctx, method, request, reply, conn, opts...)
	result, wrote := reply.(*milvuspb.MutationResult)
	to, named := request.(interface{ GetCollectionName() string })
	if err == nil && wrote && named {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.written == nil {
			s.written = make(map[string]uint64)
		}
		s.written[to.GetCollectionName()] = max(s.written[to.GetCollectionName()], result.GetTimestamp())
	}
	return err
}
