import PandoModels
import PandoStore
import PandoSystem

/// The followed graphs into which entities of one type may come as roots, whatever the type is.
protocol GraphRoots: AnyObject, Sendable {
  /// How many graphs there are.
  var count: Int { get }

  /// Whether entities of the type have other nodes inside, as far as is known: a change inside such an
  /// entity changes it too.
  var holdsNodes: Bool { get }

  func remove(_ number: UInt64)

  /// Whether a node that was written may come into a graph, or has to be read to know that.
  func mayTake(_ identifier: ByteString, of touched: TouchedNodes) -> Bool

  /// The graphs into which a node may come, and those that can't know as it can't be read.
  func graphs(at identifier: ByteString, in snapshot: ModelSnapshot) -> Set<UInt64>
}

/// The followed graphs with roots of one type that are not all named.
final class RootFollowers<Root: Entity>: GraphRoots {
  private struct State {
    var numbers: Set<UInt64> = []
    var filters = FilterIndex()
    var holdsNodes = false
  }

  private let state = Locked(State())

  var count: Int { state.withLock { $0.numbers.count } }
  var holdsNodes: Bool { state.withLock { $0.holdsNodes } }

  /// Looks whether an entity has other nodes inside.
  func note(_ entity: Root) {
    if !holdsNodes, entity.holdsNodes { state.withLock { $0.holdsNodes = true } }
  }

  func insert(_ number: UInt64, _ key: FollowedKey) {
    state.withLock { state in
      state.numbers.insert(number)
      state.filters.insert(number, key)
    }
  }

  func remove(_ number: UInt64) {
    state.withLock { state in
      state.numbers.remove(number)
      state.filters.remove(number)
    }
  }

  func mayTake(_ identifier: ByteString, of touched: TouchedNodes) -> Bool {
    let (isEmpty, fields) = state.withLock { ($0.numbers.isEmpty, $0.filters.fields) }
    if isEmpty { return false }
    guard let entity = touched.entity(identifier, as: Root.self) else { return true }
    // Who has lost one knows it as its node.
    guard let entity else { return false }
    note(entity)
    let values = entity.values(of: fields)
    return state.withLock { $0.filters.findsAny(values) }
  }

  func graphs(at identifier: ByteString, in snapshot: ModelSnapshot) -> Set<UInt64> {
    do {
      return graphs(with: try snapshot.model(identifier.text, as: Root.self))
    } catch {
      return state.withLock { $0.numbers }
    }
  }

  /// Those whose filters may let an entity in; who has lost one knows it as its node.
  private func graphs(with entity: Root?) -> Set<UInt64> {
    guard let entity else { return [] }
    note(entity)
    let values = entity.values(of: state.withLock { $0.filters.fields })
    return state.withLock { state in
      var numbers: Set<UInt64> = []
      state.filters.find(values, into: &numbers)
      return numbers
    }
  }
}
