import PandoModels
import PandoStore
import PandoSystem

/// The followed graphs that entities of one type may enter as roots, for any type.
protocol GraphRoots: AnyObject, Sendable {
  /// The number of graphs.
  var count: Int { get }

  /// Whether an entity of the type was found to contain other nodes; a change inside such an entity changes
  /// it too.
  var holdsNodes: Bool { get }

  func remove(_ number: UInt64)

  /// Whether a written node may enter a graph, or has to be read to find out.
  func mayTake(_ identifier: ByteString, of touched: TouchedNodes) -> Bool

  /// The graphs that a node may enter; all graphs if it can't be read.
  func graphs(at identifier: ByteString, in snapshot: ModelSnapshot) -> Set<UInt64>
}

/// The followed graphs with roots of one type, without those that name their roots.
final class RootFollowers<Root: Entity>: GraphRoots {
  private struct State {
    var numbers: Set<UInt64> = []
    var filters = FilterIndex()
    var holdsNodes = false
  }

  private let state = Locked(State())

  var count: Int { state.withLock { $0.numbers.count } }
  var holdsNodes: Bool { state.withLock { $0.holdsNodes } }

  /// Records whether an entity contains other nodes.
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
    // A graph that has lost the entity is found by its nodes.
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

  /// The graphs whose filters may match an entity; a graph that has lost it is found by its nodes.
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
