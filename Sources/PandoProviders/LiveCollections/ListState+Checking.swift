import PandoConsistency
import PandoModels

extension ListState {
  /// Stops the process if the list, its pending edits and its members do not fit together.
  ///
  /// - Complexity: O(*n* + *p*) for *n* elements and *p* elements of pending edits.
  func checkInvariants() {
    Self.check(list, "the shown list")
    if let stored = stored.list { Self.check(stored, "the stored list") }
    var copy = self
    copy.rewind()
    Self.check(copy.list, "the committed list")
    precondition(copy.list.rows == committedRows, "the committed rows differ")
    copy.replay()
    precondition(copy.list.rows == list.rows, "the pending edits do not lead to the shown rows")
    precondition(
      zip(copy.list.models, list.models).allSatisfy { $0.isEqual(to: $1) },
      "the pending edits do not lead to the shown models")
    for (member, next) in zip(members, members.dropFirst()) {
      precondition(member.number < next.number, "members are not in the order of their numbers")
    }
    for member in members {
      let rows = rows(in: .own(member.viewer))
      precondition(Set(rows).count == rows.count, "the list of a member has a row twice")
      if let frozen = member.frozen {
        Self.check(frozen.shown, "the list of a paused member")
        Self.check(frozen.told, "the list that a paused member received")
      }
    }
  }

  private static func check(_ list: LiveList<T>, _ name: String) {
    precondition(
      list.rows.count == list.models.count,
      "\(name) has \(list.rows.count) rows and \(list.models.count) models")
    precondition(Set(list.rows).count == list.rows.count, "\(name) has a row twice")
  }
}
