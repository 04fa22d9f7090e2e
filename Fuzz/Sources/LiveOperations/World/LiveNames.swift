import Pando

/// The names of what the tasks of a run change: each has items, a shelf, a box and a list of its own,
/// and all share a list.
struct LiveNames: Sendable {
  static let itemsOfATask = 4
  static let sharedList = "shared"

  let tasks: [Int]

  init(taskCount: Int) { tasks = Array(0..<taskCount) }

  var items: [Int] { tasks.flatMap { Self.items(of: $0) } }
  var lists: [String] { [Self.sharedList] + tasks.map { Self.list(of: $0) } }

  static func items(of task: Int) -> [Int] { (0..<itemsOfATask).map { task * 10 + $0 } }
  static func list(of task: Int) -> String { "list:\(task)" }
  static func item(_ name: Int) -> String {
    EntityIdentifier<Models.Item>.remote(name).modelIdentifier
  }
  static func shelf(_ task: Int) -> String {
    EntityIdentifier<Models.Shelf>.remote(task).modelIdentifier
  }
  static func box(_ task: Int) -> String { "Box:\(task)" }
}
