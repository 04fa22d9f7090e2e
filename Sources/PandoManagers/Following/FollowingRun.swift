import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// The followed queries and graphs that commits change, staged and published together.
struct FollowingRun: PipelineStep {
  /// The largest number of touched nodes that are looked up in a value one by one.
  private static let nodesMaximum = 4

  /// The number of the last commit, or of the last write in memory.
  let number: UInt64
  /// The last commit; `nil` for a write in memory.
  let commit: CommitOrigin?
  /// The context of its write.
  let context: (any Sendable)?
  /// Whether a copy has replaced the data, so that earlier commit numbers do not compare.
  var isReplaced = false
  /// The touched entities.
  var reads = EntityReads()
  var tally = HubTally()
  /// The nodes that the last staged view has gained or lost; unused if the view was loaded again.
  var moved: [ByteString] = []
  /// Closures that publish the results.
  private var commits: [@Sendable () -> Void] = []
  private var views: ViewIndex?

  /// Makes a run without results.
  ///
  /// - Parameters:
  ///   - number: The number of the last commit.
  ///   - commit: The commit.
  ///   - context: The context of its write.
  init(number: UInt64, commit: CommitOrigin? = nil, context: (any Sendable)?) {
    self.number = number
    self.commit = commit
    self.context = context
  }

  /// Adds a closure that publishes a result.
  mutating func add(_ commit: @escaping @Sendable () -> Void) { commits.append(commit) }

  /// Adds the value of a view to the results.
  ///
  /// - Parameters:
  ///   - value: The staged value.
  ///   - view: The view.
  ///   - nodes: The value's new and lost nodes are among these; `nil` if they are unknown.
  ///   - views: The index of the view.
  ///   - didShow: Called after the value was published.
  mutating func add<View: LiveView>(
    _ value: View.Value, of view: View, _ nodes: [ByteString]?, _ views: ViewIndex,
    didShow: @escaping @Sendable () -> Void = {}
  ) {
    let nodes = nodes.flatMap { $0.count > Self.nodesMaximum ? nil : $0 }
    // New nodes are added now; lost ones are removed when the value is published.
    let mayHaveNodes = nodes?.isEmpty != true
    if mayHaveNodes { views.insert(nodes, in: value, of: view) }
    if InternalChecks.areOn {
      self.views = views
    }
    add { [context] in
      if mayHaveNodes { views.remove(nodes, notIn: value, of: view) }
      views.didShow(value, of: view)
      if InternalChecks.areOn {
        views.checkInvariants(of: view, showing: value)
      }
      view.willShow(value)
      view.state.commit(value, context: context)
      didShow()
    }
  }

  var isVisible: Bool { !commits.isEmpty }

  func publish() {
    for commit in commits { commit() }
    if InternalChecks.areOn {
      views?.checkInvariants()
    }
  }

  /// Does nothing: publishing wakes the observers.
  func tell() {}
}

/// A commit and its author.
struct CommitOrigin: Sendable {
  let number: CommitNumber
  /// The opened store that made it; `nil` if unknown.
  let author: String?

  init(_ changeSet: ChangeSet) { (number, author) = (changeSet.commitNumber, changeSet.author) }

  init(_ number: CommitNumber) { (self.number, author) = (number, nil) }
}
