import Pando

/// The expected state of one task's things: every rule written down once more.
///
/// No other task changes the content of its items, its shelf and its list, so what one call after another
/// leads to is determined, but for edits of the list that all share.
struct NaiveTask {
  struct Shelf {
    var name: String
    var books: [Int]
    var lead: Int?
  }

  let task: Int
  /// The states that an item may show; more than one where it depends on others.
  private(set) var shown: [Int: Set<Int?>] = [:]
  /// The states that may be stored.
  private(set) var stored: [Int: Set<Int?>] = [:]
  /// Those of which several calls are on their way in no order.
  private(set) var loose: Set<Int> = []
  /// The items in the list, each once.
  var elements: [Int] = [] {
    didSet { departed.formUnion(oldValue.filter { !elements.contains($0) }) }
  }
  /// The items that have left the list in this round; a paused view may show them as they were then.
  var departed: Set<Int> = []
  var shelf: Shelf?
  private(set) var taint = Taint()
  /// Those that were deleted in memory only, some time.
  private(set) var vanished: Set<Int> = []
  private let isCanary: Bool
  private let isUnsaved: Bool

  init(_ task: Int, _ settings: LiveSettings) {
    self.task = task
    isCanary = settings.isCanary
    isUnsaved = settings.isUnsaved
    for name in LiveNames.items(of: task) {
      shown[name] = [nil]
      stored[name] = [nil]
    }
  }

  /// The state that an item certainly shows.
  func certain(_ name: Int) -> Int?? {
    guard !loose.contains(name), let values = shown[name], values.count == 1 else { return nil }
    return values.first
  }

  /// The state of an item that is certainly stored.
  func certainlyStored(_ name: Int) -> Int?? {
    guard !loose.contains(name), let values = stored[name], values.count == 1 else { return nil }
    return values.first
  }

  /// An item gets new content.
  mutating func set(_ name: Int, _ number: Int?, isWritten: Bool) {
    if loose.contains(name) {
      return setPerhaps(name, number, isWritten: isWritten)
    }
    shown[name] = [number]
    if isWritten { stored[name] = [number] } else { taintItem(name) }
  }

  /// An item gets new content, unless others prevent it.
  mutating func setPerhaps(_ name: Int, _ number: Int?, isWritten: Bool) {
    shown[name, default: []].insert(number)
    if isWritten { stored[name, default: []].insert(number) }
    // An edit of an element that is shown only is written nowhere.
    if isUnsaved { taintItem(name) }
  }

  /// From now on calls on an item are in no order.
  mutating func loosen(_ name: Int) { loose.insert(name) }

  mutating func delete(_ name: Int, isWritten: Bool) {
    set(name, nil, isWritten: isWritten)
    // Wrong on purpose in a canary's run.
    if !(isCanary && elements.count >= 3) { elements.removeAll { $0 == name } }
    shelf?.books.removeAll { $0 == name }
    if shelf?.lead == name { shelf?.lead = nil }
    if isWritten { return }
    taint.tasks.insert(task)
    vanished.insert(name)
  }

  /// Whether an item is certainly not shown, and may be stored.
  func isGone(_ name: Int) -> Bool {
    guard case .some(.none) = certain(name) else { return false }
    return vanished.contains(name)
  }

  /// An item that was deleted in memory only is fetched: all show it again as it is stored.
  mutating func bringBack(_ name: Int, _ number: Int?, isCertain: Bool) {
    if isCertain { shown[name] = [number] } else { shown[name, default: []].insert(number) }
  }

  mutating func taintItem(_ name: Int) {
    taint.items.insert(name)
    taint.tasks.insert(task)
    taint.lists.insert(LiveNames.list(of: task))
    taint.lists.insert(LiveNames.sharedList)
  }

  mutating func taintTask() { taint.tasks.insert(task) }

  mutating func taintList(_ key: String) { taint.lists.insert(key) }

  /// Takes for certain what has come out.
  mutating func settle(_ name: Int, shown value: Int?, stored other: Int?) {
    shown[name] = [value]
    stored[name] = [other]
    loose.remove(name)
  }
}
