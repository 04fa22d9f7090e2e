import PandoFixtures

/// Makes trees over a small set of identifiers, so that they share nodes.
///
/// Each identifier has one content at a time. A name's number says how high it may stand, so that no
/// tree is cyclic.
struct RandomTree {
  static let nameCount = 24
  private(set) var contents: [Node?] = Array(repeating: nil, count: nameCount)

  /// Gives an identifier new content, and content to those below that have none.
  mutating func make(_ number: Int, _ random: inout SeededGenerator) {
    let below = (number + 1)..<Self.nameCount
    var numbers: [Int] = []
    if !below.isEmpty {
      for _ in 0..<Int.random(in: 0..<5, using: &random) {
        numbers.append(Int.random(in: below, using: &random))
      }
    }
    for child in numbers where contents[child] == nil { make(child, &random) }
    // Taken now: making one child may have changed another.
    var children = numbers.compactMap { child -> Node? in
      guard let content = contents[child] else { return nil }
      // Some nodes stand in a model that is none.
      return Int.random(in: 0..<6, using: &random) == 0
        ? Node(nil, Int.random(in: 0..<3, using: &random), list: [content]) : content
    }
    let required = Int.random(in: 0..<3, using: &random) == 0 ? children.popLast() : nil
    let optional = children.popLast()
    let node = Node(
      "n\(number)", Int.random(in: 0..<3, using: &random), required: required, optional: optional,
      list: children)
    contents = contents.map { content in
      content.flatMap { Reference.apply($0, ["n\(number)": node], deleted: []).tree }
    }
    contents[number] = node
  }

  mutating func delete(_ name: String) {
    contents = contents.map { content in
      content.flatMap { Reference.apply($0, [:], deleted: [name]).tree }
    }
  }

  /// A random node that has content, which it is given if there is none.
  mutating func pick(_ random: inout SeededGenerator) -> Node {
    let number = Int.random(in: 0..<Self.nameCount, using: &random)
    if contents[number] == nil { make(number, &random) }
    return contents[number] ?? Node("n\(number)", 0)
  }
}
