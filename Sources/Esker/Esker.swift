// Whoever imports Esker has the whole engine; this module adds what needs Foundation.
@_exported public import EskerLog
