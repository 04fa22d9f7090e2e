/// Models with random content; the same seed makes the same models.
///
/// Identifiers are in no order, as where they come from many places.
struct ModelData {
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
  }

  func people(_ count: Int) -> [Person] {
    (0..<count).map { index in
      var random = SeededGenerator(seed: SeededGenerator.mix(seed &+ UInt64(index)))
      let name = Self.words(2, &random)
      return Person(
        identifier: identifier("Person", index), name: name,
        email: name.replacing(" ", with: ".") + "@example.org", about: Self.words(8, &random),
        age: Int.random(in: 18..<100, using: &random),
        followerCount: Int.random(in: 0..<1_000_000, using: &random),
        score: Double.random(in: 0..<1, using: &random), isVerified: Bool.random(using: &random))
    }
  }

  func messages(_ count: Int) -> [Message] {
    (0..<count).map { index in
      var random = SeededGenerator(seed: SeededGenerator.mix(seed &+ UInt64(index)))
      let author = Author(
        identifier: identifier("Author", index), name: Self.words(2, &random),
        followerCount: Int.random(in: 0..<1_000_000, using: &random))
      let image = Image(
        identifier: identifier("Image", index),
        url: "https://images.example.org/" + String(random.next(), radix: 16),
        width: Int.random(in: 100..<4000, using: &random),
        height: Int.random(in: 100..<4000, using: &random))
      return Message(
        identifier: identifier("Message", index), text: Self.words(12, &random),
        sentAt: 1_700_000_000 + index, likeCount: Int.random(in: 0..<10_000, using: &random),
        author: author, image: image)
    }
  }

  /// The indices below `count`, as many as are asked for, in random order.
  func order(_ lookupCount: Int, of count: Int) -> [Int] {
    var random = SeededGenerator(seed: ~seed)
    return (0..<lookupCount).map { _ in Int.random(in: 0..<count, using: &random) }
  }

  private func identifier(_ type: String, _ index: Int) -> String {
    // Mixed one to one, so no two are alike.
    type + ":" + SeededGenerator.mix(seed &+ UInt64(index)).hexadecimal
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
