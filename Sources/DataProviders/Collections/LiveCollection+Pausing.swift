import Consistency
import Locking
import ModelCore

extension LiveCollection {
  /// Lets the elements stand still for a member, or takes the newest at once.
  ///
  /// - Returns: Whether it is a member.
  func setPaused(_ isPaused: Bool, _ member: UInt64) -> Bool {
    let isMember = state.withLock { state in
      guard let index = state.index(of: member) else { return false }
      let told = state.told(
        to: state.members[index].viewer, tellsCommitted: tellsCommitted)
      if isPaused {
        state.freeze(index, told: told)
      } else if let frozen = state.members[index].frozen {
        state.thaw(index, told: told)
        state.publish(toMember: index, context: frozen.context)
      }
      return true
    }
    if isMember, !isPaused { tellNow() }
    return isMember
  }
}

extension LiveCollection {
  /// Shows a paused member the elements as they are now, as those it begins with.
  func restart(_ member: UInt64) {
    state.withLock { state in
      guard let index = state.index(of: member), state.members[index].frozen != nil else { return }
      state.members[index].frozen = nil
      _ = state.members[index].tellings.joined()
      state.freeze(index, told: state.list)
      state.publish(toMember: index)
    }
  }
}

extension ListState {
  /// Makes a member's elements stand still.
  ///
  /// - Parameters:
  ///   - index: Which member.
  ///   - told: The list as it knows it.
  mutating func freeze(_ index: Int, told: LiveList<T>) {
    guard members[index].frozen == nil else { return }
    members[index].frozen = ListMember.Frozen(
      shown: list, told: told, lastUpdated: lastUpdated)
  }

  /// Shows a member the newest elements, and queues one change of what is different.
  ///
  /// What it had not been told when it was paused is part of that change.
  mutating func thaw(_ index: Int, told: LiveList<T>) {
    guard let frozen = members[index].frozen else { return }
    members[index].frozen = nil
    let untold = members[index].tellings.joined()
    // By elements and not by rows: one that left and came back is the same one.
    let difference = CollectionChange.difference(from: frozen.told.models, to: told.models)
    let change: CollectionChange =
      switch (untold, difference) {
      case (nil, _): difference
      case (.changes(let earlier), .changes(let later)): .changes(earlier + later)
      default: .reset
      }
    if change == .changes([]) { return }
    members[index].tellings.append(ListTelling(change: change, context: frozen.context))
  }
}
