// Whoever imports Esker has the whole engine; this module adds what needs Foundation.
@_exported public import EskerLog

// What memory may hold and what it did, of the storages that have memory.
@_exported public import struct EskerMemory.MemoryLimits
@_exported public import struct EskerMemory.MemoryStatistics
