import PandoConsistency
public import PandoManagers
public import PandoProviders
public import PandoReplication
public import PandoStore
import PandoSystem

/// Counts and measures the work of a store and of the layers above, for metrics systems.
///
/// ```swift
/// let metrics = StoreMetrics()
/// var configuration = ModelStore.Configuration()
/// configuration.observer = metrics
/// let store = try ModelStore(path: "data", configuration: configuration)
/// metrics.watch(store)
/// let text = metrics.measurements().prometheusText  // for GET /metrics
/// ```
///
/// Watched objects are not retained. A flush costs a lock, two additions and a task per manager.
///
/// - Note: Any thread.
public final class StoreMetrics: StoreObserver {
  private struct State {
    var flushSeconds = Histogram.seconds
    var flushWrites = Histogram.counts
    var eventCounts: [String: Int] = [:]
    var views: [Views] = []
    var sources: [Source] = []
    var lastNumber = 0
  }

  /// A source of figures.
  private struct Source {
    /// The key of a source that exists once; `nil` for sources added by a program.
    let key: String?
    let number: Int
    let figures: @Sendable () -> [Measurement]?
  }

  /// The live data of one manager, and the delay of its callbacks.
  private final class Views: Sendable {
    weak let manager: ConsistencyManager?
    let name: String
    let lag = Locked(Histogram.seconds)
    /// Whether a measurement is in progress.
    let isMeasuring = Locked(false)

    init(_ manager: ConsistencyManager, _ name: String) {
      self.manager = manager
      self.name = name
    }

    /// Measures the time until the last callback of a flush, unless a measurement is in progress.
    func measure() {
      guard let manager, !isMeasuring.withLock({ exchange(&$0, with: true) }) else { return }
      let start = ContinuousClock.now
      Task {
        await manager.drain()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        lag.withLock { $0.record(seconds) }
        isMeasuring.withLock { $0 = false }
      }
    }
  }

  private let state = Locked(State())
  /// The labels of all figures.
  private let labels: [String: String]

  /// Makes metrics without values.
  ///
  /// - Parameter store: The label `store` of all figures; `nil` for no label.
  public init(store: String? = nil) {
    labels = store.map { ["store": $0] } ?? [:]
  }

  /// Measures a flush and its callbacks.
  public func storeDidFlush(_ flush: StoreFlush) {
    let views = state.withLock { state in
      state.flushSeconds.record(flush.duration / .seconds(1))
      state.flushWrites.record(Double(flush.writeCount))
      return state.views
    }
    for view in views { view.measure() }
  }

  /// Counts an event.
  public func storeDidReport(_ event: StoreEvent) {
    state.withLock { $0.eventCounts[event.name, default: 0] += 1 }
  }
}

extension StoreMetrics {
  /// Adds the figures of a store: sizes, counts, readers and queues.
  ///
  /// One instance watches one store: another store, or the same one opened again, replaces the
  /// former. For several stores, make an instance for each, with a name for ``init(store:)``.
  ///
  /// - Parameter store: A store whose configuration has this observer.
  public func watch(_ store: ModelStore) {
    add("store") { [weak store, labels] in store.map { Self.figures(of: $0, labels) } }
  }

  /// Adds the figures of live data: view count, and the time from a commit to its last callback.
  ///
  /// It measures one flush at a time, so the cost does not grow with their number. A callback that
  /// never returns ends the measuring.
  ///
  /// - Parameters:
  ///   - manager: The manager of the views.
  ///   - name: The label `manager` of its figures; another manager with that name replaces it.
  public func watch(_ manager: DataModelManager, name: String = "main") {
    let views = Views(manager.consistencyManager, name)
    state.withLock { state in
      state.views.removeAll { $0.name == name }
      state.views.append(views)
    }
    let labels = labels.merging(["manager": name]) { $1 }
    add("manager:" + name) { [weak consistency = manager.consistencyManager] in
      guard let consistency else { return nil }
      return [
        Measurement(
          "pando_live_views", "Active providers, collections and listeners.",
          labels: labels, .gauge(Double(consistency.liveViewCount))),
        Measurement(
          "pando_delivery_lag_seconds", "Time from a commit to the return of the last callback.",
          labels: labels, .histogram(views.lag.withLock(\.self))),
      ]
    }
  }

  /// Adds the figures of a container's caches.
  ///
  /// - Parameter container: The container.
  public func watch(_ container: CoreManagerContainer) {
    add("container") { [weak container, labels] in
      container?.cacheCounters.sorted { $0.typeName < $1.typeName }.flatMap { type, counters in
        let labels = labels.merging(["type": type]) { $1 }
        return [
          Measurement(
            "pando_cache_hits_total", "Reads by identifier that were answered from memory.",
            labels: labels, .counter(counters.hits)),
          Measurement(
            "pando_cache_misses_total", "Reads by identifier that were answered from disk.",
            labels: labels, .counter(counters.misses)),
        ]
      }
    }
  }

  /// Adds the figures of a replicated store.
  ///
  /// - Parameter replica: The store.
  public func watch(_ replica: ReplicatedStore) {
    add("replica") { [weak replica, labels] in
      guard let replica else { return nil }
      // Without the position, the lag is unknown.
      guard (try? replica.position) != nil else { return [] }
      return Self.figures(of: replica.status, labels)
    }
  }

  /// Adds figures of the program.
  ///
  /// - Parameter figures: Returns the figures, on the thread that calls ``measurements()``; `nil`
  ///   removes the source.
  public func add(_ figures: @escaping @Sendable () -> [Measurement]?) { add(nil, figures) }

  private func add(_ key: String?, _ figures: @escaping @Sendable () -> [Measurement]?) {
    state.withLock { state in
      state.sources.removeAll { $0.key != nil && $0.key == key }
      state.lastNumber += 1
      state.sources.append(Source(key: key, number: state.lastNumber, figures: figures))
    }
  }
}

extension StoreMetrics {
  /// Returns the present value of all figures.
  ///
  /// Figures of a closed store are left out.
  ///
  /// - Complexity: O(*t*) for *t* types in the watched stores.
  public func measurements() -> [Measurement] {
    let state = state.withLock { state in
      state.views.removeAll { $0.manager == nil }
      return state
    }
    var figures = [
      Measurement(
        "pando_flush_duration_seconds", "The duration of a commit, with its flush to the disk.",
        labels: labels, .histogram(state.flushSeconds)),
      Measurement(
        "pando_flush_writes", "The number of writes that shared a commit.",
        labels: labels, .histogram(state.flushWrites)),
    ]
    figures += state.eventCounts.sorted { $0.key < $1.key }.map { name, count in
      Measurement(
        "pando_events_total", "Events, by kind.",
        labels: labels.merging(["event": name]) { $1 }, .counter(count))
    }
    var ended: Set<Int> = []
    for source in state.sources {
      if let more = source.figures() { figures += more } else { ended.insert(source.number) }
    }
    if !ended.isEmpty {
      self.state.withLock { $0.sources.removeAll { ended.contains($0.number) } }
    }
    return figures
  }

  private static func figures(
    of status: ReplicationStatus, _ labels: [String: String]
  ) -> [Measurement] {
    var figures: [Measurement] = []
    func counter(_ name: String, _ help: String, _ value: Int) {
      figures.append(
        Measurement("pando_replication_" + name, help, labels: labels, .counter(value)))
    }
    func gauge(_ name: String, _ help: String, _ value: Double?, _ more: [String: String] = [:]) {
      guard let value else { return }
      figures.append(
        Measurement(
          "pando_replication_" + name, help, labels: labels.merging(more) { $1 }, .gauge(value)))
    }
    gauge(
      "lag_entries", "Entries of the log that the store has not applied.",
      Double(status.end > status.position ? status.end - status.position : 0))
    gauge("stopped", "1 if the store has stopped applying the log.", status.isStopped ? 1 : 0)
    gauge(
      "failing", "1 if the last look at the log failed, or the store has stopped.",
      status.failure == nil ? 0 : 1)
    gauge(
      "silence_seconds", "The time since the log's last answer.",
      status.lastHeard.map { (ContinuousClock.now - $0) / .seconds(1) })
    gauge("log_info", "1; the label log is the log's identity.", 1, ["log": status.log])
    gauge(
      "warnings", "Guarantees that the log, as configured, does not give.",
      Double(status.warnings.count))
    gauge(
      "copy_age_seconds", "The age of the newest copy in the log.",
      status.snapshotAge.map { $0 / .seconds(1) })
    gauge(
      "copy_failing", "1 if the last copy could not be put into the log.",
      status.snapshotFailure == nil ? 0 : 1)
    counter("judged_total", "Writes that were judged.", status.judgedCount)
    counter(
      "refused_total", "Writes that were refused because of other machines' writes.",
      status.refusedCount)
    counter("malformed_total", "Malformed messages of the log.", status.malformedCount)
    counter(
      "foreign_total", "Ignored entries from another history.", status.foreignCount)
    counter("replaced_total", "How often a copy replaced the store.", status.replacedCount)
    return figures
  }

  private static func figures(
    of store: ModelStore, _ labels: [String: String]
  ) -> [Measurement] {
    let counters = store.counters
    var figures: [Measurement] = []
    func counter(_ name: String, _ help: String, _ value: Int) {
      figures.append(Measurement(name, help, labels: labels, .counter(value)))
    }
    func gauge(_ name: String, _ help: String, _ value: Double) {
      figures.append(Measurement(name, help, labels: labels, .gauge(value)))
    }
    counter("pando_commits_total", "Writes that were committed.", counters.writes)
    counter("pando_failed_writes_total", "Writes that failed.", counters.failedWrites)
    counter(
      "pando_others_commits_total", "Commits of other processes that were shown.",
      counters.othersCommits)
    gauge(
      "pando_queued_writes", "Writes that wait for their commit.", Double(store.queuedWriteCount))
    gauge("pando_waiting_reads", "Threads that wait to read.", Double(store.waitingReadCount))
    guard let statistics = try? store.statistics() else { return figures }
    gauge(
      "pando_commit_number", "The number of the last commit.", Double(statistics.commitNumber.value)
    )
    gauge("pando_nodes", "Stored nodes.", Double(statistics.nodeCount))
    gauge("pando_edges", "Edges of the dependency index.", Double(statistics.edgeCount))
    gauge("pando_collections", "Stored collections.", Double(statistics.collectionCount))
    gauge("pando_file_size_bytes", "The size of the data file.", Double(statistics.fileSizeInBytes))
    gauge(
      "pando_used_size_bytes", "The data file up to the last page ever used.",
      Double(statistics.usedSizeInBytes))
    gauge(
      "pando_free_size_bytes", "Free pages of the data file, which later commits use.",
      Double(statistics.freeSizeInBytes))
    gauge("pando_map_size_bytes", "The size of the memory map.", Double(statistics.mapSizeInBytes))
    gauge("pando_readers", "Reader slots in use, of all processes.", Double(statistics.readerCount))
    gauge("pando_readers_maximum", "Reader slots.", Double(statistics.readerCountMaximum))
    gauge(
      "pando_oldest_reader_seconds", "How long the oldest reader of this process has been reading.",
      statistics.oldestReaderAgeInSeconds ?? 0)
    return figures
  }
}
