import CPeerLMDB
import CPeerSQLite

/// Nodes as C structs for the store in plain C; of the fields only one number is separate, the
/// others are as many bytes.
final class FlatNodes: @unchecked Sendable {
  // Not changed after it was made.
  /// The nodes, in order.
  let rows: [peer_node]
  private let children: UnsafeMutableBufferPointer<peer_node>
  private let arena = TextArena()

  var count: Int { rows.count }

  /// People, with records of about the size that Pando's have.
  init(_ people: [Person]) {
    let maker = NodeMaker(arena, byteCount: 176)
    children = UnsafeMutableBufferPointer(start: nil, count: 0)
    rows = people.map { maker.node($0.identifier, $0.followerCount) }
  }

  /// Authors by themselves, as children.
  init(_ authors: [Author]) {
    let maker = NodeMaker(arena, byteCount: 40)
    children = UnsafeMutableBufferPointer(start: nil, count: 0)
    rows = authors.map { maker.node($0.identifier, $0.followerCount, isChild: true) }
  }

  /// Messages that hold an author each.
  init(_ messages: [Message]) {
    let author = NodeMaker(arena, byteCount: 40)
    let message = NodeMaker(arena, byteCount: 120)
    let children = UnsafeMutableBufferPointer<peer_node>.allocate(capacity: messages.count)
    _ = children.initialize(
      from: messages.map {
        author.node($0.author.identifier, $0.author.followerCount, isChild: true)
      })
    self.children = children
    rows = messages.enumerated().map { index, row in
      message.node(row.identifier, row.likeCount, child: children.baseAddress.map { $0 + index })
    }
  }

  deinit { children.deallocate() }
}

/// Makes nodes of one size.
private struct NodeMaker {
  private let arena: TextArena
  private let rest: peer_text

  init(_ arena: TextArena, byteCount: Int) {
    self.arena = arena
    rest = arena.text(String(repeating: "x", count: byteCount))
  }

  func node(
    _ identifier: String, _ number: Int, child: UnsafeMutablePointer<peer_node>? = nil,
    isChild: Bool = false
  ) -> peer_node {
    let text = arena.text(identifier)
    return peer_node(
      identifier: text.bytes, identifier_size: Int(text.byte_count), number: Int64(number),
      rest: rest.bytes, rest_size: Int(rest.byte_count), child: child.map { UnsafePointer($0) },
      is_child: isChild ? 1 : 0)
  }
}
