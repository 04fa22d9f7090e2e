// swift-tools-version: 6.2
import PackageDescription

// Measures Pando beside other engines, through public API only. `./setup` installs the engines;
// docs/benchmarks.md says how each is used.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
  .treatAllWarnings(as: .error),
]

let cSettings: [CSetting] = [.define("_GNU_SOURCE")]

let package = Package(
  name: "pando-benchmarks",
  products: [
    .executable(name: "pando-bench", targets: ["PandoBench"]),
    .executable(name: "pando-questions", targets: ["PandoQuestions"]),
  ],
  traits: [
    .trait(
      name: "NATS",
      description: "The suite of stores on several machines; needs libnats and nats-server.")
  ],
  dependencies: [
    .package(
      name: "pando", path: "..", traits: [.trait(name: "NATS", condition: .when(traits: ["NATS"]))])
  ],
  targets: [
    .systemLibrary(
      name: "CSystemLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    // The code that the C peers share. SQLite and RocksDB are found when the program runs (library.h), so
    // that it can be built and run without them.
    .target(name: "CPeerSupport", cSettings: cSettings),
    .target(
      name: "CPeerLMDB", dependencies: ["CSystemLMDB", "CPeerSupport"], cSettings: cSettings),
    .target(name: "CPeerSQLite", dependencies: ["CPeerSupport"], cSettings: cSettings),
    .target(name: "CPeerRocksDB", dependencies: ["CPeerSupport"], cSettings: cSettings),
    .target(
      name: "BenchmarkSuites",
      dependencies: [
        "CPeerSupport", "CPeerLMDB", "CPeerSQLite", "CPeerRocksDB",
        .product(name: "Pando", package: "pando"),
        .product(name: "PandoRemote", package: "pando"),
        .product(name: "PandoLMDB", package: "pando"),
        .product(name: "PandoReplication", package: "pando", condition: .when(traits: ["NATS"])),
        .product(name: "PandoNATSLog", package: "pando", condition: .when(traits: ["NATS"])),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "PandoBench", dependencies: ["BenchmarkSuites"], swiftSettings: settings),
    // Random questions beside SQLite and plain Swift: a check, which measures nothing.
    .executableTarget(
      name: "PandoQuestions",
      dependencies: [
        "CPeerSQLite", .product(name: "Pando", package: "pando"),
        .product(name: "PandoReplication", package: "pando"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BenchmarkSuitesTests",
      dependencies: [
        "BenchmarkSuites", "PandoBench", .product(name: "Pando", package: "pando"),
      ],
      swiftSettings: settings),
  ]
)
