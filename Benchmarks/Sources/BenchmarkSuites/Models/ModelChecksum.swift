/// A model of which a checksum can be made.
protocol Checksummed {
  static func add(_ value: Self, to checksum: inout ModelChecksum)
}

extension MessageBlob: Checksummed {
  static func add(_ value: MessageBlob, to checksum: inout ModelChecksum) { checksum.add(value) }
}

/// A number that depends on every field of every model, and on their order.
struct ModelChecksum {
  private(set) var value: UInt64 = 0
  /// Whether every byte of a text counts (FNV-1a), or only how many there are.
  let isThorough: Bool

  /// Makes the checksum of nothing.
  ///
  /// - Parameter isThorough: Pass `false` where the clock runs.
  init(isThorough: Bool) {
    self.isThorough = isThorough
  }

  mutating func add(_ person: some PersonContent) {
    add(person.identifier)
    add(person.name)
    add(person.email)
    add(person.about)
    add(person.age)
    add(person.followerCount)
    add(Int(bitPattern: UInt(person.score.bitPattern)))
    add(person.isVerified ? 1 : 0)
  }

  mutating func add(_ card: PersonCard) {
    add(card.identifier)
    add(card.name)
    add(card.isVerified ? 1 : 0)
  }

  mutating func add(_ contact: PersonContact) {
    add(contact.identifier)
    add(contact.name)
    add(contact.email)
  }

  mutating func add(_ discussion: some DiscussionContent) {
    add(discussion.identifier)
    add(discussion.title)
    for message in discussion.messages { add(message) }
  }

  mutating func add(_ message: some MessageContent) {
    add(message.identifier)
    add(message.text)
    add(message.sentAt)
    add(message.likeCount)
    add(message.author.identifier)
    add(message.author.name)
    add(message.author.followerCount)
    guard let image = message.image else { return add(0) }
    add(image.identifier)
    add(image.url)
    add(image.width)
    add(image.height)
  }

  mutating func add(_ number: Int) {
    value = value &* 31 &+ UInt64(bitPattern: Int64(number))
  }

  mutating func add(_ text: String) {
    if isThorough {
      for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
    add(text.utf8.count)
  }
}
