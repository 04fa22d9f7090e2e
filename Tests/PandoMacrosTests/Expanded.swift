import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// A source text after the expansion of its macros.
struct Expanded {
  /// The expanded text.
  let text: String
  /// The errors, each with its line and the text that its repair leads to.
  let errors: [Mistaken]

  struct Mistaken: Equatable, CustomStringConvertible {
    let line: Int
    let message: String
    /// The line with the error after the repair; `nil` without one.
    let repaired: String?

    var description: String { "\(line): \(message) → \(repaired ?? "–")" }
  }

  private static let conformances: [TypeSyntax] = [
    "Model", "KeyedModel", "Codable", "Equatable", "Queryable", "FieldCodable", "DeletionRuled",
  ]
  private static let embedded: [TypeSyntax] = [
    "Codable", "Equatable", "Embedded", "FieldCodable", "QueryRepresentable", "KeyPart",
    "CaseNamed",
  ]

  init(_ source: String) {
    var specs: [String: MacroSpec] = [
      "Model": MacroSpec(type: ModelMacro.self, conformances: Self.conformances),
      "Embedded": MacroSpec(type: EmbeddedMacro.self, conformances: Self.embedded),
    ]
    for marker in Marker.allCases { specs[marker.rawValue] = MacroSpec(type: MarkerMacro.self) }
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "test.swift")])
    let expanded = file.expand(
      macroSpecs: specs,
      contextGenerator: { node in
        BasicMacroExpansionContext(
          sharingWith: context, lexicalContext: node.allMacroLexicalContexts())
      }, indentationWidth: .spaces(2))
    text = expanded.description
    errors = context.diagnostics.map { diagnostic in
      let place = context.location(
        for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "test.swift")
      let line = place.line
      return Mistaken(
        line: line, message: diagnostic.message,
        repaired: Self.repaired(source, by: diagnostic.fixIts.first, line: line))
    }
  }

  private static func repaired(_ source: String, by fixIt: FixIt?, line: Int) -> String? {
    guard case .replace(let old, let new)? = fixIt?.changes.first else { return nil }
    let text = source.replacing(old.trimmedDescription, with: new.trimmedDescription)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines[line - 1].drop { $0 == " " }.description
  }
}
