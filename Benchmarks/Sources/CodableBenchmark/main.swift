runCodableBenchmark()
