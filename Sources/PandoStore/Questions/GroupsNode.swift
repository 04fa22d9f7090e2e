import PandoSystem

/// Counts entities in groups.
///
/// ```
/// part ─► for fields of lists: one part for each different element ─► key ─► node of the group
///                                                          running: ─► place among the ordered groups
/// ```
final class GroupsNode: TallyNode {
  private final class Group {
    let node: any TallyNode
    /// How many entities are in the group, some of them in several parts.
    var count = 0
    /// Its place among the ordered groups; `nil` without one.
    var rank: QueryValue?
    var hasFailed = false

    init(_ node: any TallyNode) { self.node = node }
  }

  /// One field of the key.
  private struct KeyField {
    let position: Int
    /// The number of its list; `nil` for a single value.
    let list: Int?
    let starts: UnitStarts?
    let identity: @Sendable (QueryValue) -> GroupIdentity

    func value(_ value: QueryValue) -> QueryValue { starts?.start(of: value) ?? value }

    /// Whether two values are one in the key of the answer.
    func areSame(_ one: QueryValue, _ other: QueryValue) -> Bool {
      if one == other { return true }
      guard one.kind == other.kind, case .shared(let key) = identity(one),
        case .shared(key) = identity(other)
      else { return false }
      return true
    }
  }

  /// A list of which the key has fields.
  private struct List {
    /// The places of these fields in the key.
    let places: [Int]
    /// The positions of all fields of the list.
    let positions: [Int]
    /// Whether the groups read fields of the list, too.
    let isReadInGroups: Bool
  }

  private let fields: [KeyField]
  private let lists: [List]
  private let grouping: Grouping<Int>
  private let measure: Measure<Int>
  private let nodes: TallyNodes
  private var groups: [GroupValues: Group] = [:]
  /// The group of the last part, because successive entities are often in one.
  private var last: (key: GroupValues, group: Group)?
  /// The order of the groups; `nil` if all are given, or if entities are only added.
  private var order: GroupOrder?
  /// The groups that have changed since they were taken last; `nil` unless they are noted.
  var changedGroups: Set<GroupValues>?

  init(_ grouping: Grouping<Int>, _ measure: Measure<Int>, _ nodes: TallyNodes) {
    self.grouping = grouping
    self.measure = measure
    self.nodes = nodes
    let fields = grouping.fields.map { part in
      KeyField(
        position: part.field, list: nodes.lists[part.field],
        starts: part.unit.map { UnitStarts($0) }, identity: part.identity)
    }
    self.fields = fields
    let read = Set(measure.fields)
    lists = Set(fields.compactMap(\.list)).sorted().map { list in
      let positions = nodes.lists.indices.filter { nodes.lists[$0] == list }
      return List(
        places: fields.indices.filter { fields[$0].list == list }, positions: positions,
        isReadInGroups: positions.contains(where: read.contains))
    }
    let isTracked = grouping.selection != nil || measure.needsWhole
    order = nodes.isRunning && isTracked ? GroupOrder(grouping) : nil
  }

  func change(_ part: [QueryValue], isAdded: Bool) {
    forEachGroup(of: part) { change($0, $1, isAdded: isAdded) }
  }

  /// Passes the key of each group that has a part, and the part as the node of the group reads it.
  func forEachGroup(of part: [QueryValue], _ body: (GroupValues, [QueryValue]) -> Void) {
    if lists.isEmpty {
      let key =
        fields.count == 1
        ? .one(fields[0].value(part[fields[0].position]))
        : GroupValues.several(fields.map { $0.value(part[$0.position]) })
      return body(key, part)
    }
    var key = fields.map { $0.list == nil ? $0.value(part[$0.position]) : .null }
    var part = part
    forEachElement(of: 0, &key, &part, body)
  }

  /// Passes the groups of the elements of a list, and of those that follow: a group for the elements that are one key.
  private func forEachElement(
    of index: Int, _ key: inout [QueryValue], _ part: inout [QueryValue],
    _ body: (GroupValues, [QueryValue]) -> Void
  ) {
    guard index < lists.count else {
      return body(key.count == 1 ? .one(key[0]) : .several(key), part)
    }
    let list = lists[index]
    let columns = list.positions.map { part[$0].elements }
    let count = columns.map(\.count).min() ?? 0
    let keys = list.places.map { place in
      let column = list.positions.firstIndex(of: fields[place].position) ?? 0
      return columns[column].prefix(count).map { fields[place].value($0) }
    }
    let firsts = firstElements(count, keys, list)
    for element in 0..<count {
      var members: [Int] = []
      if let firsts {
        guard firsts[element] == element else { continue }
        members = (element..<count).filter { firsts[$0] == element }
      }
      let isOne = members.count < 2
      for (place, values) in zip(list.places, keys) {
        // The lowest of equal texts is the key.
        key[place] = isOne ? values[element] : members.map { values[$0] }.min() ?? .null
      }
      if list.isReadInGroups {
        for (position, column) in zip(list.positions, columns) {
          part[position] = isOne ? column[element] : .elements(members.map { column[$0] })
        }
      }
      forEachElement(of: index + 1, &key, &part, body)
    }
    guard list.isReadInGroups, index > 0 else { return }
    for (position, column) in zip(list.positions, columns) { part[position] = .elements(column) }
  }

  /// For each element of a list, the first one that is the same key; `nil` if all differ.
  private func firstElements(_ count: Int, _ keys: [[QueryValue]], _ list: List) -> [Int]? {
    var firsts: [Int]?
    var places: [[AnyHashable]: Int] = [:]
    for element in 0..<count {
      let first: Int?
      if count > Self.fewCount {
        let identities = zip(list.places, keys).map { place, values in
          if case .shared(let key) = fields[place].identity(values[element]) { return key }
          return AnyHashable(values[element])
        }
        first = places[identities]
        if first == nil { places[identities] = element }
      } else {
        first = (0..<element).first { other in
          for (place, values) in zip(list.places, keys) {
            guard fields[place].areSame(values[other], values[element]) else { return false }
          }
          return true
        }
      }
      guard let first else { continue }
      var known = firsts ?? Array(0..<count)
      known[element] = known[first]
      firsts = known
    }
    return firsts
  }

  /// Up to this number, elements are compared with each other.
  private static let fewCount = 16

  private func change(_ key: GroupValues, _ part: [QueryValue], isAdded: Bool) {
    let group = group(key)
    group.node.change(part, isAdded: isAdded)
    group.count += isAdded ? 1 : -1
    changedGroups?.insert(key)
    if group.count == 0 {
      groups[key] = nil
      last = nil
    }
    if order != nil { place(group, key) }
  }

  private func group(_ key: GroupValues) -> Group {
    if let last, last.key == key { return last.group }
    let group =
      groups[key]
      ?? {
        let made = Group(nodes.make(measure))
        groups[key] = made
        order?.note(key, isNew: true)
        return made
      }()
    last = (key, group)
    return group
  }

  /// Moves a group that has changed to its place among the ordered groups.
  private func place(_ group: Group, _ key: GroupValues) {
    let isGone = group.count == 0
    if isGone { order?.note(key, isNew: false) }
    guard let selection = grouping.selection else { return }
    var rank: QueryValue?
    var hasFailed = false
    if !isGone {
      do throws(QueryError) {
        rank = try selection.rank(group.node.tally(isWhole: false))
      } catch {
        hasFailed = true
      }
    }
    if group.hasFailed != hasFailed { order?.unorderedCount += hasFailed ? 1 : -1 }
    group.hasFailed = hasFailed
    if group.rank == rank { return }
    if let rank = group.rank { order?.remove(key, rank, selection) }
    if let rank { order?.insert(key, rank, selection) }
    group.rank = rank
  }

  /// The tally of one group; `nil` if it has no entities.
  func tally(of key: GroupValues) -> Tally? { groups[key]?.node.tally(isWhole: false) }

  func tally(isWhole: Bool) -> Tally {
    // Of groups that are one key, and with one that fails, the answer is made of all groups.
    let isDivided = order.map { $0.unorderedCount > 0 } ?? false
    let isWhole = isWhole || isDivided
    guard !isWhole, let order, let selection = grouping.selection else {
      return .groups(groups.mapValues { $0.node.tally(isWhole: isWhole) })
    }
    var chosen: [GroupValues: Tally] = [:]
    for entry in order.groups.prefix(selection.limit ?? .max) {
      chosen[entry.key] = groups[entry.key]?.node.tally(isWhole: false)
    }
    return .groups(chosen)
  }
}

/// The order of groups while entities are added and removed.
private struct GroupOrder {
  private let grouping: Grouping<Int>
  private(set) var groups = ChunkedArray<(rank: QueryValue, key: GroupValues)>([])
  /// How many groups there are of each key that others may share.
  private var shared: [AnyHashable: Int] = [:]
  /// How many groups forbid to answer from the order: those that share a key, those without a key, and
  /// those without a rank.
  var unorderedCount = 0

  init(_ grouping: Grouping<Int>) { self.grouping = grouping }

  /// Counts a group that comes or goes.
  mutating func note(_ key: GroupValues, isNew: Bool) {
    switch grouping.identity(of: key) {
    case .own: return
    case .none: unorderedCount += isNew ? 1 : -1
    case .shared(let typed):
      let count = shared[typed, default: 0] + (isNew ? 1 : -1)
      shared[typed] = count == 0 ? nil : count
      // The first one shares its key with none.
      if count > (isNew ? 1 : 0) { unorderedCount += isNew ? 1 : -1 }
    }
  }

  mutating func insert(_ key: GroupValues, _ rank: QueryValue, _ selection: GroupSelection) {
    groups.insert((rank, key), at: place(key, rank, selection))
  }

  mutating func remove(_ key: GroupValues, _ rank: QueryValue, _ selection: GroupSelection) {
    _ = groups.remove(at: place(key, rank, selection))
  }

  private func place(
    _ key: GroupValues, _ rank: QueryValue, _ selection: GroupSelection
  ) -> ChunkedArray<(rank: QueryValue, key: GroupValues)>.Index {
    groups.partitioningIndex { !selection.areInOrder($0.rank, $0.key, rank, key) }
  }
}

extension QueryValue {
  /// The elements of a list; a single value is one.
  fileprivate var elements: [QueryValue] {
    if case .elements(let values) = self { values } else { [self] }
  }
}
