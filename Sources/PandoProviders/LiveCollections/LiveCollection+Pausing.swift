import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

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

  /// Ends one reason to stand still: with the last one the newest elements show at once.
  ///
  /// - Returns: Whether that was the last one, and ``endPause(of:)`` is to be published; `nil` if it
  ///   is no member.
  func beginResume(_ member: UInt64, _ reason: PauseReasons) -> Bool? {
    state.withLock { state in
      guard let index = state.index(of: member) else { return nil }
      guard state.members[index].frozen?.reasons.remove(reason) != nil else { return false }
      return state.members[index].standstill == nil
    }
  }

  /// Ends a member's pause when it is published: what is different is told as one change.
  ///
  /// - Returns: `nil` if the member stands still again, or has gone.
  func endPause(of member: UInt64) -> ResumedMember? {
    let isOnItsWay = state.withLock { state in
      state.index(of: member).map { state.members[$0].isOnItsWayBack } ?? false
    }
    guard isOnItsWay else { return nil }
    var update = LiveUpdate()
    // The change itself knows its time.
    update.date = .distantPast
    var staged = StagedList(self, update)
    staged.structure = .resumed(member)
    return ResumedMember(change: staged, update: update)
  }

  /// Whether the elements stand still for a member; `nil` if it is no member.
  func isPaused(_ member: UInt64) -> Bool? {
    state.withLock { state in
      state.index(of: member).map { state.members[$0].standstill != nil }
    }
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
      if members[index].isOnItsWayBack {
        members[index].frozen?.shown = list
        members[index].frozen?.lastUpdated = lastUpdated
      }
      members[index].frozen?.reasons.insert(reason)
      return
    }
    members[index].frozen = ListMember.Frozen(
      shown: list, told: told(to: members[index].viewer, tellsCommitted: tellsCommitted),
      lastUpdated: lastUpdated, reasons: reason)
  }

  /// Ends the pause of a member that has no reason to stand still any more.
  ///
  /// What it had not been told when it was paused is part of the change, and so is what is not
  /// committed: the member shows that from now on, and knows it.
  ///
  /// - Returns: What it is to be told; `nil` if nothing is different.
  mutating func thaw(_ index: Int, tellsCommitted: Bool) -> ListTelling<T>? {
    guard let frozen = members[index].frozen, frozen.reasons.isEmpty else { return nil }
    members[index].frozen = nil
    tellingCount += 1
    let untold = members[index].tellings.joined()
    let viewer = members[index].viewer
    let uncommitted = tellsCommitted ? pending.last { !viewer.knows($0.operation) } : nil
    members[index].viewer.firstEdit = editCount
    // By elements and not by rows: one that left and came back is the same one.
    let difference = CollectionChange.difference(from: frozen.told.models, to: list.models)
    let change: CollectionChange =
      switch (untold, difference) {
      case (nil, _): difference
      case (.changes(let earlier), .changes(let later)): .changes(earlier + later)
      default: .reset
      }
    publish(toMember: index, context: frozen.context)
    if change == .changes([]) { return nil }
    return ListTelling(
      number: tellingCount, isEdit: false, change: ToldChange(change, list: list.models),
      context: uncommitted.map(\.operation.context) ?? frozen.context,
      date: uncommitted?.operation.date ?? frozen.date ?? lastUpdated ?? .now)
  }
}
