/// A key's item in a row of ``KeySpellings``.
///
/// Safety: points into spellings that its user keeps. All 32 bytes of the row are readable; `length` of them are the item.
@safe
struct EncodedKey {
  let row: UnsafeRawPointer
  let length: Int
}
