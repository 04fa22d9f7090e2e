#if NATS
  import CPeerSupport
  import Foundation
  import Pando
  import PandoReplication
  import Synchronization

  /// Stores of several machines: what a write costs that three servers have, and when others show it.
  ///
  /// Servers and machines are processes and stores of this machine, which share its processors and its disk.
  struct ReplicationSuite {
    private let runner: Runner

    init(_ runner: Runner) { self.runner = runner }

    /// Measures everything.
    func run() throws {
      try measureWriting(threadCount: 1)
      if runner.options.threads >= 64 { try measureWriting(threadCount: 64) }
      try measureShowing()
      try measureFairness()
      try measureMachines()
      try measureCounter()
      try measureBacklog()
      try measureJoining()
      try measureKill()
    }

    private func measureWriting(threadCount: Int) throws {
      let perThread = runner.options.scaled(smoke: 10, standard: threadCount == 1 ? 5_000 : 2_000)
      let name = "write-\(threadCount)"
      try measure(
        name, "a node set, until three servers and the store have it",
        ["writes": perThread * threadCount, "threads": threadCount]
      ) { cluster in
        let machine = try Machine(cluster, try runner.makeDirectory())
        defer { machine.close() }
        return try .time(
          perThread * threadCount, stride: 1, in: machine.directory, threadCount: threadCount,
          { latencies in
            let shared = ThreadLatencies(latencies)
            try Threads.run(threadCount) { thread in
              for number in 0..<perThread {
                try shared[thread].time { try machine.write(number, of: thread) }
              }
            }
            return 0
          }, settle: {}, checksum: { try UInt64(machine.count()) })
      }
      judgeRate(name, atLeast: threadCount == 1 ? 800 : 20_000)
      guard threadCount == 1 else { return }
      judge(name, atShare: 0.5, goal: 2)
      judge(name, atShare: 0.99, goal: 10)
    }

    /// From the acknowledgement on one machine to the delegate of a provider on another one.
    private func measureShowing() throws {
      let count = runner.options.scaled(smoke: 10, standard: 1_000)
      try measure(
        "shown", "acknowledged write, until the delegate of another machine's provider is called",
        ["writes": count]
      ) { cluster in
        let writer = try Machine(cluster, try runner.makeDirectory())
        defer { writer.close() }
        try writer.write(0, of: 0)
        let reader = try Machine(cluster, try runner.makeDirectory(), joining: writer)
        defer { reader.close() }
        try reader.catchUp()
        let shown = try ShownNumbers(reader.replica.store, Machine.identifier(0, of: 0))
        defer { shown.close() }
        let latencies = Latencies(stride: 1)
        var measurement = try Measurement.time(count) { _ in
          for number in 1...count {
            try writer.set(number, of: 0)
            let acknowledged = latency_now()
            let seen = shown.wait(for: number)
            latencies.record(nanoseconds: seen > acknowledged ? seen - acknowledged : 0)
          }
          return UInt64(count)
        }
        measurement.latencies = latencies.distribution
        return measurement
      }
      judge("shown", atShare: 0.5, goal: 3)
    }

    /// Three machines that write different nodes for some time.
    private func measureFairness() throws {
      let duration = Duration.milliseconds(runner.options.scaled(smoke: 300, standard: 8_000))
      let shares = Mutex<[Double]>([])
      try measure(
        "three", "a node set by one of three machines that write all the time",
        ["machines": 3, "milliseconds": Int(duration / .milliseconds(1))]
      ) { cluster in
        let first = try Machine(cluster, try runner.makeDirectory())
        var machines = [first]
        for _ in 1..<3 {
          machines.append(try Machine(cluster, try runner.makeDirectory(), joining: first))
        }
        defer { for machine in machines { machine.close() } }
        let counts = Mutex<[Int: Int]>([:])
        let all = machines
        let latencies = (0..<3).map { _ in Latencies(stride: 1) }
        let start = ContinuousClock.now
        var measurement = try Measurement.time(1) { _ in
          let shared = ThreadLatencies(latencies)
          try Threads.run(3) { index in
            var count = 0
            while ContinuousClock.now - start < duration {
              try shared[index].time { try all[index].write(count, of: index) }
              count += 1
            }
            counts.withLock { $0[index] = count }
          }
          return 0
        }
        let written = counts.withLock { Array($0.values) }
        let total = written.reduce(0, +)
        for machine in machines {
          try machine.catchUp()
          guard try machine.count() == total else {
            throw BenchmarkError(.wrongResult, "a machine lacks writes of the others")
          }
        }
        shares.withLock { $0.append(Double(written.min() ?? 0) * 3 / Double(max(1, total))) }
        measurement = Measurement(
          operationCount: total, duration: measurement.duration,
          processorDuration: measurement.processorDuration, checksum: 0)
        for one in latencies { measurement.latencies.add(one.distribution) }
        return measurement
      }
      judge("three", atShare: 1, goal: 1_000)
      let least = shares.withLock { $0.min() }
      guard let least else { return }
      runner.add(
        Comparison(
          name: "replication/three/share", title: "replication three, least share of a third",
          value: least, goal: .atLeast(0.5)))
    }

    /// Machines that write nodes of their own all the time, with several threads each: one of them, and ten.
    private func measureMachines() throws {
      for machineCount in [1, 10] {
        try measureTogether(
          machineCount == 1 ? "alone-8" : "ten-8", "a node set by one of \(machineCount) machines",
          machineCount: machineCount, threadCount: 8
        ) { machine, number, writer in
          try machine.write(number, of: writer)
        } total: { machine in
          try machine.count()
        }
      }
      judge("ten-8", atShare: 0.99, goal: 200)
      guard let ten = runner.rate(.pando, in: "ten-8"), let one = runner.rate(.pando, in: "alone-8")
      else { return }
      runner.add(
        Comparison(
          name: "replication/ten-8/share", title: "replication, ten machines against one",
          value: ten / one, goal: .atLeast(3)))
    }

    /// Ten machines that count up one number.
    private func measureCounter() throws {
      try measureTogether(
        "counter", "a number that ten machines count up", machineCount: 10, threadCount: 1
      ) { machine, _, _ in
        try machine.countUp()
      } total: { machine in
        try machine.counted()
      }
      judgeRate("counter", atLeast: 300)
    }

    /// Machines that write for some time, each with some threads.
    private func measureTogether(
      _ name: String, _ operation: String, machineCount: Int, threadCount: Int,
      _ write: @escaping @Sendable (Machine, Int, Int) throws -> Void,
      total: @escaping (Machine) throws -> Int
    ) throws {
      let duration = Duration.milliseconds(runner.options.scaled(smoke: 300, standard: 8_000))
      try measure(
        name, operation,
        [
          "machines": machineCount, "threads": threadCount,
          "milliseconds": Int(duration / .milliseconds(1)),
        ]
      ) { cluster in
        let first = try Machine(cluster, try runner.makeDirectory())
        var machines = [first]
        for _ in 1..<machineCount {
          machines.append(try Machine(cluster, try runner.makeDirectory(), joining: first))
        }
        defer { for machine in machines { machine.close() } }
        let written = Mutex(0)
        let all = machines
        let latencies = (0..<machineCount * threadCount).map { _ in Latencies(stride: 1) }
        let start = ContinuousClock.now
        var measurement = try Measurement.time(1) { _ in
          let shared = ThreadLatencies(latencies)
          try Threads.run(machineCount * threadCount) { index in
            var count = 0
            while ContinuousClock.now - start < duration {
              try shared[index].time { try write(all[index / threadCount], count, index) }
              count += 1
            }
            written.withLock { $0 += count }
          }
          return 0
        }
        let count = written.withLock(\.self)
        for machine in machines {
          try machine.catchUp()
          guard try total(machine) == count else {
            throw BenchmarkError(.wrongResult, "a machine lacks writes of the others")
          }
        }
        measurement = Measurement(
          operationCount: count, duration: measurement.duration,
          processorDuration: measurement.processorDuration, checksum: 0)
        for one in latencies { measurement.latencies.add(one.distribution) }
        return measurement
      }
    }

    /// The rate at which a machine that was away applies entries.
    private func measureBacklog() throws {
      let count = runner.options.scaled(smoke: 100, standard: 50_000)
      try measure("backlog", "an entry taken in by a machine that was away", ["entries": count]) {
        cluster in
        let writer = try Machine(cluster, try runner.makeDirectory())
        defer { writer.close() }
        let directory = try runner.makeDirectory()
        try Machine(cluster, directory, joining: writer).close()
        // Entries, each of which a flush of its own has brought.
        try writer.write(entries: count)
        return try .time(
          count, in: directory,
          { latencies in
            let start = latencies.start()
            let reader = try Machine(cluster, directory, joining: writer)
            defer { reader.close() }
            try reader.catchUp()
            latencies.end(start, sharedBy: count)
            guard try reader.count() == writer.count() else {
              throw BenchmarkError(.wrongResult, "a machine lacks writes of another one")
            }
            return UInt64(count)
          })
      }
      judgeRate("backlog", atLeast: 20_000)
    }

    /// A new machine, from nothing to all that there is.
    private func measureJoining() throws {
      let count = runner.options.scaled(smoke: 1_000, standard: 100_000, large: 1_000_000)
      try measure("join", "a new machine that begins by a copy", ["nodes": count]) { cluster in
        let writer = try Machine(cluster, try runner.makeDirectory())
        defer { writer.close() }
        try writer.fill(count)
        try writer.putSnapshot()
        let directory = try runner.makeDirectory()
        return try .time(
          1, in: directory,
          { latencies in
            let machine = try latencies.time {
              let machine = try Machine(cluster, directory, joining: writer)
              try machine.catchUp()
              return machine
            }
            defer { machine.close() }
            return try UInt64(machine.count())
          })
      }
      judge("join", atShare: 1, goal: 60_000)
    }

    /// The server that leads is killed while a machine writes.
    private func measureKill() throws {
      let count = runner.options.scaled(smoke: 20, standard: 3_000)
      try measure(
        "server-killed", "a node set, while the server that leads is killed", ["writes": count]
      ) { cluster in
        let machine = try Machine(cluster, try runner.makeDirectory())
        defer { machine.close() }
        let leader = try cluster.leader(of: machine.stream)
        let measurement = try Measurement.time(
          count, in: machine.directory,
          { latencies in
            for number in 0..<count {
              if number == count / 3 { cluster.kill(leader) }
              try latencies.time { try machine.writeAgainAndAgain(number) }
            }
            return 0
          },
          checksum: {
            let other = try Machine(cluster, try runner.makeDirectory(), joining: machine)
            defer { other.close() }
            try other.catchUp()
            return try UInt64(other.count())
          })
        try cluster.start(leader)
        return measurement
      }
      judge("server-killed", atShare: 1, goal: 8_000)
    }

    // MARK: Running

    /// A workload with servers of its own.
    private func measure(
      _ name: String, _ operation: String, _ parameters: [String: Int],
      _ run: @escaping (NATSCluster) throws -> Measurement
    ) throws {
      try runner.measure(
        Workload(
          name: name, operation: operation, parameters: parameters,
          durability: runner.options.durability(),
          contenders: [
            Workload.Contender(.pando) {
              try run(
                try NATSCluster(
                  in: try runner.makeDirectory(), durability: runner.options.durability()))
            }
          ]))
    }

    private func judgeRate(_ workload: String, atLeast goal: Double) {
      guard let rate = runner.rate(.pando, in: workload) else { return }
      runner.add(
        Comparison(
          name: "replication/\(workload)/rate", title: "replication \(workload)", value: rate,
          unit: "/s", goal: .atLeast(goal)))
    }

    /// Judges a latency, in milliseconds.
    private func judge(_ workload: String, atShare share: Double, goal: Double) {
      guard let entry = runner.entry(.pando, in: workload) else { return }
      let title = share == 1 ? "max" : "p\(Int(share * 100))"
      runner.add(
        Comparison(
          name: "replication/\(workload)/\(title)", title: "replication \(workload), \(title)",
          value: Double(entry.latencies.nanoseconds(atShare: share)) / 1e6, unit: "ms",
          goal: .atMost(goal)))
    }
  }
#endif
