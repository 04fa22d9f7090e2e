import CPeerSQLite

/// Messages with author and image as C structs, so that the peer's clock sees no Swift.
final class FlatTrees {
  let rows: [peer_tree]
  private let arena = TextArena()

  var count: Int { rows.count }

  init(_ messages: some Sequence<Message>) {
    let arena = arena
    rows = messages.map { message in
      let image = message.image
      return peer_tree(
        identifier: arena.text(message.identifier), text: arena.text(message.text),
        sent_at: Int64(message.sentAt), like_count: Int64(message.likeCount),
        author_identifier: arena.text(message.author.identifier),
        author_name: arena.text(message.author.name),
        author_follower_count: Int64(message.author.followerCount),
        has_image: image == nil ? 0 : 1,
        image_identifier: arena.text(image?.identifier ?? ""),
        image_url: arena.text(image?.url ?? ""), image_width: Int64(image?.width ?? 0),
        image_height: Int64(image?.height ?? 0))
    }
  }
}
