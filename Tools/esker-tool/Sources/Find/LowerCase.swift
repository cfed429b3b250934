/// Text in lower case; bytes that are not UTF-8 as they are.
func lowercased(_ text: [UInt8]) -> [UInt8] {
  if text.allSatisfy({ $0 < 0x80 }) {
    return text.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
  }
  return String(validating: text, as: UTF8.self).map { Array($0.lowercased().utf8) } ?? text
}
