// swift-tools-version: 6.2
import PackageDescription

// Fuzz targets, a package of its own: they see public API only. Build and run one with `./fuzz`.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "pando", path: "..")],
  targets: [
    .target(name: "CFuzzer"),
    .executableTarget(
      name: "fuzz-json",
      dependencies: ["CFuzzer", .product(name: "Pando", package: "pando")],
      path: "Sources/FuzzJSON", swiftSettings: settings),
  ]
)
