// swift-tools-version: 6.2
import PackageDescription

// Fuzz targets and torture, a package of its own. They see public API only, but for `fuzz-records`,
// which tests the decoder of records, and for sources of the command and of the store's tests that are
// compiled here again. Build and run them with `./fuzz` and `./torture`; docs/reliability.md says what
// each shows.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "fuzz",
  products: [
    .library(name: "TorturePreload", type: .dynamic, targets: ["TorturePreload"])
  ],
  dependencies: [.package(name: "pando", path: "..")],
  targets: [
    .target(name: "CFuzzer"),
    .executableTarget(
      name: "fuzz-json",
      dependencies: ["CFuzzer", .product(name: "Pando", package: "pando")],
      path: "Sources/FuzzJSON", swiftSettings: settings),

    .target(name: "FuzzSupport", dependencies: ["CFuzzer"], swiftSettings: settings),
    // The decoder of records is no public API: `./fuzz` builds with testing enabled.
    .executableTarget(
      name: "fuzz-records",
      dependencies: ["FuzzSupport", .product(name: "Pando", package: "pando")],
      path: "Sources/FuzzRecords", swiftSettings: settings),
    .executableTarget(
      name: "fuzz-store-file",
      dependencies: [
        "FuzzSupport", .product(name: "Pando", package: "pando"),
        .product(name: "PandoLMDB", package: "pando"),
      ],
      path: "Sources/FuzzStoreFile", swiftSettings: settings),
    // The model test of the store, with the bytes of the fuzzer as its random numbers.
    .target(
      name: "PandoFixtures", dependencies: [.product(name: "Pando", package: "pando")],
      swiftSettings: settings),
    .executableTarget(
      name: "fuzz-operations",
      dependencies: ["FuzzSupport", "PandoFixtures", .product(name: "Pando", package: "pando")],
      path: "Sources/FuzzOperations", swiftSettings: settings),
    // Calls on live data, and their expected results: with the bytes of the fuzzer, or random numbers.
    .target(
      name: "LiveOperations", dependencies: [.product(name: "Pando", package: "pando")],
      swiftSettings: settings),
    .executableTarget(
      name: "fuzz-live", dependencies: ["FuzzSupport", "LiveOperations"],
      path: "Sources/FuzzLive", swiftSettings: settings),
    // The command's own sources, without its main function and its subcommands.
    .executableTarget(
      name: "fuzz-import",
      dependencies: ["FuzzSupport", .product(name: "Pando", package: "pando")],
      path: "Sources/FuzzImport",
      exclude: [
        "Command/Import/Importer.swift", "Command/Import/ImportWrite.swift",
        "Command/Output/ChangeOutput.swift", "Command/Running/StoreAccess.swift",
      ],
      swiftSettings: settings + [
        .enableExperimentalFeature("Lifetimes"), .strictMemorySafety(),
      ]),

    .target(name: "TorturePreload"),
    .executableTarget(
      name: "torture",
      dependencies: [
        "LiveOperations",
        .product(name: "Pando", package: "pando"),
        .product(name: "PandoLMDB", package: "pando"),
        .product(name: "PandoReplication", package: "pando"),
      ],
      path: "Sources/Torture", swiftSettings: settings),
  ]
)
