import CPeerSQLite

/// People as C structs, so that the peer's clock sees no Swift.
final class FlatPeople: @unchecked Sendable {
  // Not changed after it was made.
  let rows: [peer_person]
  private let arena = TextArena()

  var count: Int { rows.count }

  init(_ people: [Person]) {
    let arena = arena
    rows = people.map { person in
      peer_person(
        identifier: arena.text(person.identifier), name: arena.text(person.name),
        email: arena.text(person.email), about: arena.text(person.about), age: Int64(person.age),
        follower_count: Int64(person.followerCount), score: person.score,
        is_verified: person.isVerified ? 1 : 0)
    }
  }
}
