import Consistency
import Locking
import ModelCore

/// Telling members' delegates, outside every lock.
extension LiveCollection {
  /// Tells members before this returns when the caller is where delegates are called, else soon.
  ///
  /// - Parameter actor: Who is just making a change, and hears of others behind that.
  func tellNow(except actor: UInt64? = nil) {
    let deliverer = manager.consistencyManager.deliverer
    if deliverer.isCurrent {
      tellMembers(except: actor)
    } else {
      deliverer.enqueue { self.tellMembers() }
    }
  }

  /// Tells members what they have not been told yet, on the delivery target.
  ///
  /// A delegate may change the collection: then the others are told of that too before its call
  /// returns, and each in the order of the changes.
  ///
  /// - Parameter actor: Who is not told now.
  func tellMembers(except actor: UInt64? = nil) {
    let waiting = state.withLock { state in
      state.members.filter { !$0.tellings.isEmpty && $0.frozen == nil && $0.number != actor }
        .map(\.number)
    }
    for member in waiting {
      while let (provider, telling) = nextTelling(of: member) {
        provider?.tell(telling)
      }
    }
  }

  private func nextTelling(of member: UInt64) -> (CollectionDataProvider<T>?, ListTelling)? {
    state.withLock { state in
      guard let index = state.index(of: member), state.members[index].frozen == nil,
        let telling = state.members[index].tellings.popFirst()
      else { return nil }
      return (state.members[index].provider, telling)
    }
  }
}
