/// Models with random content; the same seed makes the same models.
///
/// Identifiers are in no order, as where they come from many places.
struct ModelData: Sendable {
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
  }

  func people(_ count: Int) -> [Person] {
    (0..<count).map { index in
      var random = random(index)
      let name = Self.words(2, &random)
      return Person(
        identifier: identifier("Person", index), name: name,
        email: name.replacing(" ", with: ".") + "@example.org", about: Self.words(8, &random),
        age: Int.random(in: 18..<100, using: &random),
        followerCount: Int.random(in: 0..<1_000_000, using: &random),
        score: Double.random(in: 0..<1, using: &random), isVerified: Bool.random(using: &random))
    }
  }

  /// Messages, each with an author and an image of its own.
  func messages(_ count: Int) -> [Message] {
    (0..<count).map { message($0, author: author($0), image: image($0)) }
  }

  /// A message with content of its own.
  func message(_ index: Int, author: Author, image: Image?) -> Message {
    var random = random(index)
    return Message(
      identifier: identifier("Message", index), text: Self.words(12, &random),
      sentAt: 1_700_000_000 + index, likeCount: Int.random(in: 0..<10_000, using: &random),
      author: author, image: image)
  }

  /// An author with content of their own.
  func author(_ index: Int) -> Author {
    var random = random(~index)
    return Author(
      identifier: identifier("Author", index), name: Self.words(2, &random),
      followerCount: Int.random(in: 0..<1_000_000, using: &random))
  }

  func image(_ index: Int) -> Image {
    var random = random(index &+ 1 << 40)
    return Image(
      identifier: identifier("Image", index),
      url: "https://images.example.org/" + String(random.next(), radix: 16),
      width: Int.random(in: 100..<4000, using: &random),
      height: Int.random(in: 100..<4000, using: &random))
  }

  /// Discussions of 33 messages, each a tree of 100 nodes.
  func discussions(_ count: Int) -> [Discussion] {
    (0..<count).map { index in
      var random = random(index)
      return Discussion(
        identifier: identifier("Discussion", index), title: Self.words(4, &random),
        messages: (0..<33).map { number in
          let place = index * 33 + number
          return message(place, author: author(place), image: image(place))
        })
    }
  }

  /// The indices below `count`, as many as are asked for, in random order.
  func order(_ lookupCount: Int, of count: Int) -> [Int] {
    var random = SeededGenerator(seed: ~seed)
    return (0..<lookupCount).map { _ in Int.random(in: 0..<count, using: &random) }
  }

  func identifier(_ type: String, _ index: Int) -> String {
    // Mixed one to one, so no two are alike.
    type + ":" + SeededGenerator.mix(seed &+ UInt64(index)).hexadecimal
  }

  private func random(_ index: Int) -> SeededGenerator {
    SeededGenerator(seed: SeededGenerator.mix(seed &+ UInt64(bitPattern: Int64(index))))
  }

  private static func words(_ count: Int, _ random: inout SeededGenerator) -> String {
    (0..<count).map { _ in vocabulary[Int.random(in: vocabulary.indices, using: &random)] }
      .joined(separator: " ")
  }

  private static let vocabulary = [
    "aspen", "birch", "cedar", "elder", "forest", "grove", "hazel", "juniper", "larch", "maple",
    "needle", "orchard", "pine", "quince", "root", "sapling", "thicket", "under", "willow", "yew",
  ]
}
