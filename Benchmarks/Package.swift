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

let package = Package(
  name: "pando-benchmarks",
  products: [
    .executable(name: "pando-bench", targets: ["PandoBench"])
  ],
  dependencies: [
    .package(name: "pando", path: "..")
  ],
  targets: [
    .systemLibrary(
      name: "CSystemLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(
      name: "CSystemSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CPeerLMDB", dependencies: ["CSystemLMDB"]),
    .target(name: "CPeerSQLite", dependencies: ["CSystemSQLite"]),
    .target(
      name: "BenchmarkSuites",
      dependencies: [
        "CPeerLMDB", "CPeerSQLite", "CSystemSQLite",
        .product(name: "Pando", package: "pando"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "PandoBench", dependencies: ["BenchmarkSuites"], swiftSettings: settings),
    .testTarget(
      name: "BenchmarkSuitesTests", dependencies: ["BenchmarkSuites"], swiftSettings: settings),
  ]
)
