import Pando

/// The trees of the workload as Swift values, and what the soak's processes set through providers.
enum SoakModels {
  @Model struct Part {
    var id: String
    var version: Int
    var text: String
    var modelIdentifier: String { id }
  }

  @Model struct Extra {
    var id: String
    var version: Int
    var modelIdentifier: String { id }
  }

  /// The tree of a task.
  @Model("Task") struct Work {
    var id: String
    var version: Int
    var text: String
    var first: Part
    var extra: Extra?
    var parts: [Part]
    var modelIdentifier: String { id }
  }

  @Model struct Shared {
    var id: String
    var count: Int
    var modelIdentifier: String { id }
  }

  /// A model that processes set through providers: each has one of its own and shows those of all.
  @Model struct Note {
    var id: String
    var number: Int
    var mark: Mark?
    var modelIdentifier: String { id }
  }

  /// A child of notes, and an element of a list that all processes change.
  @Model struct Mark {
    var id: String
    var number: Int
    var modelIdentifier: String { id }
  }
}

extension SoakModels.Part {
  init(_ tree: TreeNode) {
    self.init(
      id: tree.identifier, version: Int(tree["version"]?.integerValue ?? -1),
      text: tree["text"]?.stringValue ?? "")
  }
}

extension SoakModels.Work {
  /// Makes the expected tree of a task after a step.
  init?(_ workload: Workload, task: Int, step: Int) {
    let tree = workload.tree(task: task, step: step)
    guard let first = tree["first"]?.nodeValue else { return nil }
    self.init(
      id: tree.identifier, version: step, text: tree["text"]?.stringValue ?? "",
      first: SoakModels.Part(first),
      extra: tree["extra"]?.nodeValue.map { SoakModels.Extra(id: $0.identifier, version: step) },
      parts: (tree["parts"]?.arrayValue ?? []).compactMap { $0.nodeValue.map(SoakModels.Part.init) }
    )
  }
}
