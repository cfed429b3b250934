import Esker

/// The settings of a program, as properties.
struct Settings {
  enum Theme: String, Codable, Sendable { case light, dark }

  @Stored var theme: Theme
  @Stored var fontSize: Int
  @Stored var name: String?

  init(_ store: LogStore) {
    _theme = Stored(wrappedValue: .light, "theme", in: store)
    _fontSize = Stored(wrappedValue: 12, "font size", in: store)
    _name = Stored(wrappedValue: nil, "name", in: store)
  }
}
