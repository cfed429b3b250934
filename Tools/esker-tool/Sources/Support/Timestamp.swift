import Esker

/// A time as the tool prints it: `2026-03-01T12:00:00.000Z`.
func timestamp(_ time: WallTime) -> String { time.description }
