module jobferry.dev/test/real-node/pause

go 1.21
