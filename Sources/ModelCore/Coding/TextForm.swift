/// How the values of a type lie in memory that hold a text and nothing else.
///
/// First comes the text, then always the same: what tells them from other values of the type. So one can
/// be made without asking the runtime for the type, which costs more than reading the text.
struct TextForm {
  /// With which byte no text begins that may stand for another value.
  private let specialStart: UInt8
  /// What lies behind the text.
  private let tail: UInt64

  private static let textByteCount = MemoryLayout<String>.size
  private static let byteCountMaximum = textByteCount + MemoryLayout<UInt64>.size

  /// Looks at how values of a type lie in memory; `nil` if none holds just a text, or it lies otherwise.
  init?<Known: RecordItemDecodable>(of type: Known.Type) {
    // One text lies in the value itself, the other one elsewhere.
    guard let tail = Self.tail(of: type, holding: "0123456789"),
      tail == Self.tail(of: type, holding: String(repeating: "0123456789", count: 4))
    else { return nil }
    self.tail = tail
    specialStart = type.specialTextStart
  }

  private static func tail<Known: RecordItemDecodable>(
    of type: Known.Type, holding text: String
  ) -> UInt64? {
    guard let value = type.holding(text), MemoryLayout<Known>.size >= textByteCount,
      MemoryLayout<Known>.size <= byteCountMaximum
    else { return nil }
    // Both are alive, and their bytes are read during the call only.
    return unsafe withUnsafeBytes(of: value) { bytes in
      let isTextFirst = unsafe withUnsafeBytes(of: text) { text in
        unsafe bytes.prefix(textByteCount).elementsEqual(text)
      }
      guard isTextFirst else { return nil }
      return unsafe bytes.dropFirst(textByteCount).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// The text that comes next, if it can be nothing but the text of such a value.
  @inline(__always)
  func text(in reader: CBORReader) -> String? {
    var reader = reader
    guard let bytes = unsafe reader.takeShortText(), bytes.count > 0,
      unsafe bytes[0] != specialStart
    else { return nil }
    return unsafe String(utf8: bytes)
  }

  /// The value of a type that holds a text.
  ///
  /// *Precondition:* this is the form of `Value`.
  @unsafe
  func value<Value>(
    _ type: Value.Type, holding text: String, in session: DecodingSession
  ) -> Value {
    let (room, usedBefore) = unsafe session.takeRoom(
      byteCount: Self.byteCountMaximum, alignment: MemoryLayout<UInt64>.alignment)
    defer { unsafe session.giveBack(room, usedBefore: usedBefore) }
    // There is room for both, and the value takes the text over.
    unsafe room.initializeMemory(as: String.self, to: text)
    unsafe room.storeBytes(
      of: tail.littleEndian, toByteOffset: Self.textByteCount, as: UInt64.self)
    return unsafe room.assumingMemoryBound(to: Value.self).move()
  }
}
