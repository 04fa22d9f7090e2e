import PandoConsistency
import FoundationEssentials
import PandoSystem
import PandoModels

extension LiveCollection {
  /// Lets the elements stand still for a member.
  ///
  /// - Returns: Whether it is a member.
  func pause(_ member: UInt64, _ reason: PauseReasons) -> Bool {
    state.withLock { state in
      guard let index = state.index(of: member) else { return false }
      state.freeze(index, reason, tellsCommitted: tellsCommitted)
      return true
    }
  }

  /// Ends one reason to stand still: with the last one the newest elements show at once, and what is
  /// different is queued as one change.
  ///
  /// - Returns: Whether that was the last one; `nil` if it is no member.
  func resume(_ member: UInt64, _ reason: PauseReasons) -> Bool? {
    state.withLock { state in
      guard let index = state.index(of: member) else { return nil }
      return state.thaw(index, reason, tellsCommitted: tellsCommitted)
    }
  }

  /// Whether the elements stand still for a member; `nil` if it is no member.
  func isPaused(_ member: UInt64) -> Bool? {
    state.withLock { state in state.index(of: member).map { state.members[$0].frozen != nil } }
  }

  /// Shows a paused member the elements as they are now, as those it begins with.
  func restart(_ member: UInt64) {
    state.withLock { state in
      guard let index = state.index(of: member), let frozen = state.members[index].frozen
      else { return }
      _ = state.members[index].tellings.joined()
      state.members[index].frozen = ListMember.Frozen(
        shown: state.list, told: state.list, lastUpdated: state.lastUpdated,
        reasons: frozen.reasons)
      state.publish(toMember: index)
    }
  }
}

extension ListState {
  /// Makes a member's elements stand still.
  mutating func freeze(_ index: Int, _ reason: PauseReasons, tellsCommitted: Bool) {
    if members[index].frozen != nil {
      members[index].frozen?.reasons.insert(reason)
      return
    }
    members[index].frozen = ListMember.Frozen(
      shown: list, told: told(to: members[index].viewer, tellsCommitted: tellsCommitted),
      lastUpdated: lastUpdated, reasons: reason)
  }

  /// Ends one reason to stand still: with the last one a member shows the newest elements, and one
  /// change of what is different is queued.
  ///
  /// What it had not been told when it was paused is part of that change.
  ///
  /// - Returns: Whether that was the last reason.
  mutating func thaw(_ index: Int, _ reason: PauseReasons, tellsCommitted: Bool) -> Bool {
    members[index].frozen?.reasons.remove(reason)
    guard let frozen = members[index].frozen, frozen.reasons.isEmpty else { return false }
    members[index].frozen = nil
    let untold = members[index].tellings.joined()
    let told = told(to: members[index].viewer, tellsCommitted: tellsCommitted)
    // By elements and not by rows: one that left and came back is the same one.
    let difference = CollectionChange.difference(from: frozen.told.models, to: told.models)
    let change: CollectionChange =
      switch (untold, difference) {
      case (nil, _): difference
      case (.changes(let earlier), .changes(let later)): .changes(earlier + later)
      default: .reset
      }
    publish(toMember: index, context: frozen.context)
    if change != .changes([]) {
      let date = frozen.date ?? lastUpdated ?? .now
      members[index].tellings.append(
        ListTelling(change: change, context: frozen.context, date: date))
    }
    return true
  }
}
