import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// Pauses a member, so that its elements stay as they are.
  ///
  /// - Returns: `false` if `member` is not a member.
  func pause(_ member: UInt64, _ reason: PauseReasons) -> Bool {
    withMember(member) { state, index in
      state.freeze(index, reason, tellsCommitted: tellsCommitted)
    } != nil
  }

  /// Removes one reason to pause.
  ///
  /// After the last one the member shows the newest elements at once.
  ///
  /// - Returns: True if it was the last reason, so that ``endPause(of:)`` must be published; `nil`
  ///   if `member` is not a member.
  func beginResume(_ member: UInt64, _ reason: PauseReasons) -> Bool? {
    withMember(member) { state, index in
      guard state.members[index].frozen?.reasons.remove(reason) != nil else { return false }
      return state.members[index].standstill == nil
    }
  }

  /// Stages the end of a member's pause.
  ///
  /// Its delegate receives all changes of the pause as one.
  ///
  /// - Returns: `nil` if the member was paused again, or has left.
  func endPause(of member: UInt64) -> (any StagedChange)? {
    guard withMember(member, { $0.members[$1].isOnItsWayBack }) ?? false else { return nil }
    var update = LiveUpdate()
    // `thaw` computes the date of the change itself.
    update.date = .distantPast
    var staged = StagedList(self, update)
    staged.structure = .resumed(member)
    return staged
  }

  /// Returns true if the member is paused; `nil` if it is not a member.
  func isPaused(_ member: UInt64) -> Bool? {
    withMember(member) { $0.members[$1].standstill != nil }
  }

  /// Restarts a paused member with the current elements, without a notification.
  func restart(_ member: UInt64) {
    withMember(member) { state, index in
      guard let frozen = state.members[index].frozen else { return }
      _ = state.members[index].tellings.joined()
      state.members[index].frozen = ListMember.Frozen(
        shown: state.list, told: state.list, lastUpdated: state.lastUpdated,
        reasons: frozen.reasons)
      state.publish(toMember: index)
    }
  }
}

extension ListState {
  /// Pauses a member.
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
      shown: list,
      told: list(in: view(of: members[index].viewer, tellsCommitted: tellsCommitted)),
      lastUpdated: lastUpdated, reasons: reason)
  }

  /// Ends the pause of a member that has no reason left.
  ///
  /// The change contains the notifications that were still queued, then the difference to the shown
  /// list. With a store too it contains uncommitted edits.
  ///
  /// - Returns: The notification; `nil` if there is no change.
  mutating func thaw(_ index: Int, tellsCommitted: Bool) -> ListTelling<T>? {
    guard let frozen = members[index].frozen, frozen.reasons.isEmpty else { return nil }
    members[index].frozen = nil
    tellingCount += 1
    let untold = members[index].tellings.joined()
    let viewer = members[index].viewer
    let uncommitted = tellsCommitted ? pending.last { !viewer.knows($0.operation) } : nil
    members[index].viewer.firstEdit = editCount
    // Elements are compared, not rows: an element that was removed and inserted again is unchanged.
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
