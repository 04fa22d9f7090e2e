// swift-tools-version: 6.2
import PackageDescription

// Fuzz targets and torture, a package of its own: they see public API only. Build and run them with
// `./fuzz` and `./torture`; docs/reliability.md says what each shows.

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

    .target(name: "TorturePreload"),
    .executableTarget(
      name: "torture",
      dependencies: [.product(name: "Pando", package: "pando")],
      path: "Sources/Torture", swiftSettings: settings),
  ]
)
