import PandoRecords

/// An index of words has one field: the words of several others, with the name `words(title,details)`.
extension FieldPath {
  private static let wordsStart = "words("

  /// The names in `words(title,details)`; empty for another name.
  static func names(ofWordsIn name: String) -> [String] {
    guard name.utf8.last == UInt8(ascii: ")"), name.hasPrefix(wordsStart) else { return [] }
    return name.dropFirst(wordsStart.count).dropLast()
      .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  /// The words of fields.
  static func words(of fields: [FieldPath]) -> FieldPath {
    FieldPath(
      "\(wordsStart)\(fields.map(\.name).joined(separator: ",")))", fallbacks: [], sources: fields)
  }

  /// Whether its values are the words of other fields.
  var areWords: Bool { reading == .words }

  /// Whether words of the field can be in an index: it is one of the record itself, or a list there.
  var mayHaveWords: Bool {
    !name.isEmpty && reading == .asStored && (parts.isEmpty || parts.count == 1 && parts[0].isEach)
      && !name.utf8.contains(UInt8(ascii: ","))
  }

  /// Finds the words of the fields in a body, one field after another.
  func scan(_ body: Span<UInt8>, _ scanner: inout WordScanner) throws {
    scanner.removeAll()
    for source in sources { try source.scanTexts(body, &scanner) }
  }

  func countedWords(in body: Span<UInt8>) throws -> CountedWords {
    var scanner = WordScanner()
    try scan(body, &scanner)
    return CountedWords(scanner)
  }

  /// The different words in a body, as values.
  func wordValues(in body: Span<UInt8>) throws -> [QueryValue] {
    let words = try countedWords(in: body)
    return words.words.map {
      .string(String(decoding: Array(copying: words.bytes(of: $0)), as: UTF8.self))
    }
  }

  /// Whether two bodies have the same bytes in the fields.
  func hasSameTexts(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    sources.allSatisfy { source in
      // A field under another name, or a default, counts as changed.
      guard source.fallbacks.isEmpty else { return false }
      return Self.isSame(source.parts.first?.key ?? source.whole, one, other)
    }
  }

  /// Scans the text of a field of the record itself, or each text of a list there.
  func scanTexts(_ body: Span<UInt8>, _ scanner: inout WordScanner) throws {
    // Read during the call only.
    try unsafe body.withUnsafeBytes { bytes throws in
      do throws(CBORError) {
        var reader = unsafe CBORReader(bytes)
        if try find(step: 0, in: &reader) { return try Self.scanText(&reader, &scanner) }
        if parts.isEmpty { return }
        reader = unsafe CBORReader(bytes)
        guard try find(step: 1, in: &reader),
          let (count, haveKeys) = try Self.openElements(in: &reader)
        else { return }
        for _ in 0..<count {
          if haveKeys { try reader.skip() }
          var element = reader
          try Self.scanText(&element, &scanner)
          try reader.skip()
        }
      } catch {
        throw damaged(error)
      }
    }
  }

  private static func scanText(
    _ reader: inout CBORReader, _ scanner: inout WordScanner
  ) throws(CBORError) {
    if try reader.peek().major == .tag, try reader.tag() != RecordTag.url { return }
    guard try reader.peek().major == .text else { return }
    let text = unsafe try reader.textBytes()
    unsafe scanner.scan(Span(_unsafeElements: text.bindMemory(to: UInt8.self)))
  }
}
