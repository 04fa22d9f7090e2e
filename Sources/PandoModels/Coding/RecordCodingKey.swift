/// A key made from a text or an index.
struct RecordCodingKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ text: String, intValue: Int? = nil) {
    stringValue = text
    self.intValue = intValue
  }

  init(index: Int) {
    stringValue = "[\(index)]"
    intValue = index
  }

  init?(stringValue: String) { self.init(stringValue) }

  init?(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}
