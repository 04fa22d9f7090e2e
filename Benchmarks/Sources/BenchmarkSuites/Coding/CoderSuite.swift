import Foundation
import Pando

/// Encoding and decoding of a `Codable` model of 8 fields against Foundation's coders.
///
/// The record coder is not public by itself. The suite measures a list of models without
/// identifiers, whose bytes lie in the list: reading it is decoding, and setting it is encoding, plus
/// what the list costs. Allocations are counted in a round of their own, without the clock.
struct CoderSuite {
  private let runner: Runner
  private let profiles: [Profile]
  private let declaredProfiles: [DeclaredProfile]
  private let roundCount: Int

  init(_ runner: Runner) {
    self.runner = runner
    profiles = ModelData(seed: runner.options.seed).people(1_000).map { Profile($0) }
    declaredProfiles = profiles.map { DeclaredProfile($0) }
    roundCount = runner.options.scaled(smoke: 2, standard: 40)
  }

  /// Measures everything.
  func run() throws {
    try runner.measure(
      workload(
        "decode", "decode of an 8-field model", goals: [.json: 6],
        [
          Workload.Contender(.pando) { try decodeWithPando(profiles) },
          Workload.Contender(.pandoModel) { try decodeWithPando(declaredProfiles) },
          Workload.Contender(.json) {
            let encoder = JSONEncoder()
            let bytes = try profiles.map { try encoder.encode($0) }
            let decoder = JSONDecoder()
            return try time { try decoder.decode(Profile.self, from: bytes[$0]) }
          },
          Workload.Contender(.propertyList) {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            let bytes = try profiles.map { try encoder.encode($0) }
            let decoder = PropertyListDecoder()
            return try time { try decoder.decode(Profile.self, from: bytes[$0]) }
          },
        ]))
    try runner.measure(
      workload(
        "encode", "encode of an 8-field model",
        [
          Workload.Contender(.pando) { try encodeWithPando(profiles) },
          Workload.Contender(.pandoModel) { try encodeWithPando(declaredProfiles) },
          Workload.Contender(.json) {
            let encoder = JSONEncoder()
            return try timeEncoding { try encoder.encode($0) }
          },
          Workload.Contender(.propertyList) {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            return try timeEncoding { try encoder.encode($0) }
          },
        ]))
    compareAllocations()
  }

  /// The allocations of decoding beyond the texts of a model that are too long to lie in it.
  private func compareAllocations() {
    let textCount = profiles.reduce(0) { count, profile in
      let texts = [profile.identifier, profile.name, profile.email, profile.about]
      return count + texts.filter { $0.utf8.count > 15 }.count
    }
    let needed = Double(textCount) / Double(profiles.count)
    for system in [System.pando, .pandoModel] {
      guard let count = runner.entry(system, in: "decode")?.allocationCountPerOperation else {
        continue
      }
      runner.add(
        Comparison(
          name: "coder/decode/allocations-\(system.rawValue)",
          title: "coder decode, \(system.title): allocations beyond the model's texts",
          value: count - needed, unit: "per model",
          // The list and the read itself cost a few for all models together.
          goal: system == .pandoModel ? .atMost(0.05) : nil))
    }
  }

  private func workload(
    _ name: String, _ operation: String, goals: [System: Double] = [:],
    _ contenders: [Workload.Contender]
  ) -> Workload {
    Workload(
      name: name, operation: operation,
      parameters: ["models": profiles.count, "operations": profiles.count * roundCount],
      goals: goals, contenders: contenders)
  }

  /// Decodes each model so many times; the checksum is of what came out.
  private func time(_ decode: (Int) throws -> Profile) throws -> Measurement {
    var measurement = try Measurement.time(
      profiles.count * roundCount, stride: 8,
      { latencies in
        var checksum = ModelChecksum(isThorough: false)
        for _ in 0..<roundCount {
          for index in profiles.indices {
            try latencies.time { checksum.add(try decode(index)) }
          }
        }
        return checksum.value
      })
    measurement.allocationCountPerOperation = try Allocations.count(per: profiles.count) {
      for index in profiles.indices { _ = try decode(index) }
    }
    return measurement
  }

  /// Encodes each model so many times; the checksum is how many there were.
  private func timeEncoding(_ encode: (Profile) throws -> Data) throws -> Measurement {
    var measurement = try Measurement.time(
      profiles.count * roundCount, stride: 8,
      { latencies in
        var byteCount = 0
        for _ in 0..<roundCount {
          for profile in profiles {
            try latencies.time { byteCount += try encode(profile).count }
          }
        }
        return byteCount > 0 ? UInt64(profiles.count) : 0
      })
    measurement.allocationCountPerOperation = try Allocations.count(per: profiles.count) {
      for profile in profiles { _ = try encode(profile) }
    }
    return measurement
  }

  private func decodeWithPando<P: SimpleModel & Codable & PersonContent>(
    _ profiles: [P]
  ) throws -> Measurement {
    let pando = try PandoModels(runner.makeDirectory(), .unsynchronized)
    try pando.store.write { try $0.setCollection("profiles", to: profiles) }
    var measurement = try Measurement.time(
      profiles.count * roundCount,
      { latencies in
        try pando.store.read { snapshot in
          var checksum = ModelChecksum(isThorough: false)
          for _ in 0..<roundCount {
            let start = latencies.start()
            let decoded = try snapshot.collection("profiles", as: P.self) ?? []
            for profile in decoded { checksum.add(profile) }
            latencies.end(start, sharedBy: decoded.count)
          }
          return checksum.value
        }
      })
    measurement.allocationCountPerOperation = try Allocations.count(per: profiles.count) {
      _ = try pando.store.read { try $0.collection("profiles", as: P.self) }
    }
    return measurement
  }

  private func encodeWithPando<P: SimpleModel & Codable>(_ profiles: [P]) throws -> Measurement {
    let pando = try PandoModels(runner.makeDirectory(), .unsynchronized)
    var measurement = try Measurement.time(
      profiles.count * roundCount,
      { latencies in
        let shared = SharedLatencies(latencies)
        let roundCount = roundCount
        try pando.store.write { transaction in
          for round in 0..<roundCount {
            let start = shared.latencies.start()
            try transaction.setCollection("profiles-\(round)", to: profiles)
            shared.latencies.end(start, sharedBy: profiles.count)
          }
        }
        return 0
      },
      checksum: {
        let count = try pando.store.read { try $0.collectionCount("profiles-\(roundCount - 1)") }
        return UInt64(count ?? 0)
      })
    measurement.allocationCountPerOperation = try Allocations.count(per: profiles.count) {
      try pando.store.write { try $0.setCollection("counted", to: profiles) }
    }
    return measurement
  }
}
