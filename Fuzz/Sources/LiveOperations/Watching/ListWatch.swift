import Pando
import Synchronization

/// A provider of a list, and the list that the changes of its delegate lead to.
final class ListWatch: CollectionDataProviderDelegate {
  private struct State {
    /// An element that came in or changed is unknown until the next look.
    var slots: [Models.Item?] = []
    /// The reported changes can't be followed until the next look.
    var isUnknown = true
    var newest: [Int: Int] = [:]
    var changes: [CollectionChange] = []
    /// Whether the next telling is left out on purpose.
    var missesNext = false
  }

  let provider: CollectionDataProvider<Models.Item>
  private let key: String
  private let ledger: Ledger
  private let seesOrder: Bool
  private let missesSome: Bool
  private let state = Mutex(State())
  private let onTold = Mutex<(@Sendable () -> Void)?>(nil)

  /// With `seesOrder` no content may be older than before; with `missesSome` the first telling after each
  /// look is left out on purpose, which must be found.
  init(
    _ manager: DataModelManager, _ key: String, _ ledger: Ledger, seesOrder: Bool = false,
    missesSome: Bool = false
  ) {
    self.key = key
    self.ledger = ledger
    self.seesOrder = seesOrder
    self.missesSome = missesSome
    provider = CollectionDataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  /// Is called behind each telling.
  func whenTold(_ body: @escaping @Sendable () -> Void) { onTold.withLock { $0 = body } }

  func collectionDataProviderHasUpdatedData<U>(
    _ dataProvider: CollectionDataProvider<U>, collectionChanges: CollectionChange, data: [U],
    context: (any Sendable)?
  ) {
    follow(collectionChanges)
    if seesOrder { noteContents() }
    onTold.withLock { $0 }?()
  }

  /// Applies a reported change, or one that an own call has returned.
  func follow(_ change: CollectionChange?) {
    state.withLock { state in
      guard let change else { return }
      state.changes.append(change)
      switch change {
      case .reset: state.isUnknown = true
      case .changes(let changes):
        if state.isUnknown { return }
        if state.missesNext {
          state.missesNext = false
          return
        }
        var slots = state.slots
        for change in changes {
          guard change.isPossible(slots.count) else {
            return ledger.find("\(key): reported \(changes) of \(state.slots.count) elements")
          }
          slots.apply([change]) { _ in nil }
        }
        state.slots = slots
      }
    }
  }

  /// Since the last look only changes of elements were reported.
  func requireNoReset() {
    state.withLock { state in
      ledger.require(!state.changes.contains(.reset), "\(key): reported a reset without a cause")
    }
  }

  /// At rest it shows what is stored.
  func checkStored(_ stored: [Models.Item]) {
    let shown = provider.data
    ledger.require(
      shown == stored, "list \(key): shown \(shown.map(\.text)), stored \(stored.map(\.text))")
  }

  /// Stops following the reported changes until the next look.
  func lose() { state.withLock { $0.isUnknown = true } }

  private func noteContents() {
    let committed = provider.dataModelManager.snapshot { $0.data(of: provider) }
    state.withLock { state in
      for item in committed where !ledger.isLoose(item.name) {
        let last = state.newest[item.name] ?? 0
        ledger.require(
          last <= item.number, "\(key): item \(item.name) is shown as \(item.number) after \(last)")
        state.newest[item.name] = max(last, item.number)
      }
    }
  }

  /// At rest the reported changes lead to the shown list; from here on it is followed anew.
  func checkTold() {
    let shown = provider.data
    state.withLock { state in
      defer {
        state.slots = shown
        state.isUnknown = false
        state.missesNext = missesSome
        state.changes = []
      }
      if state.isUnknown { return }
      let isSame =
        state.slots.count == shown.count
        && zip(state.slots, shown).allSatisfy { $0 == nil || $0 == $1 }
      ledger.require(
        isSame,
        """
        \(key): reported \(state.slots.map { $0?.text ?? "?" }), shown \(shown.map(\.text)); the changes \
        were \(state.changes)
        """)
    }
  }
}

extension Models.Item {
  /// Name and number of content.
  var text: String { "\(name)#\(number)" }
}

extension CollectionChangeInformation {
  /// Whether a list of so many elements has the positions.
  fileprivate func isPossible(_ count: Int) -> Bool {
    switch self {
    case .update(let index), .delete(let index): index < count
    case .insert(let index): index <= count
    case .move(let source, let target): source < count && target < count
    }
  }
}
