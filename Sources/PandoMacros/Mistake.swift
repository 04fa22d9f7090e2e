import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A mistake in a declaration, which becomes an error of the compiler.
struct Mistake: DiagnosticMessage {
  let message: String
  var diagnosticID: MessageID { MessageID(domain: "Pando", id: message) }
  var severity: DiagnosticSeverity { .error }
}

/// The repair that the compiler offers for a mistake.
struct Repair: FixItMessage {
  let message: String
  var fixItID: MessageID { MessageID(domain: "Pando", id: message) }

  /// A repair that replaces a part of the declaration.
  static func replace(
    _ old: some SyntaxProtocol, by new: some SyntaxProtocol, _ message: String
  ) -> FixIt {
    FixIt(
      message: Repair(message: message),
      changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
  }

  /// A repair that removes an attribute of a property.
  static func remove(_ attribute: AttributeSyntax, of variable: VariableDeclSyntax) -> FixIt {
    var repaired = variable
    repaired.attributes = variable.attributes.filter { $0.id != attribute.id }
    repaired.leadingTrivia = variable.leadingTrivia
    return replace(variable, by: repaired, "remove \(attribute.trimmedDescription)")
  }
}

extension TypeSyntaxProtocol {
  /// The name of a type without what stands before it.
  var lastName: String {
    String(trimmedDescription.split { ".:".contains($0) }.last ?? "")
  }
}

/// The mistakes found in one declaration.
struct Mistakes {
  private(set) var diagnostics: [Diagnostic] = []

  /// Adds a mistake.
  ///
  /// - Parameters:
  ///   - node: The part of the declaration that is wrong.
  ///   - message: Names the mistake, and says what to write instead.
  ///   - repair: The repair that the compiler offers.
  mutating func add(_ node: some SyntaxProtocol, _ message: String, _ repair: FixIt? = nil) {
    diagnostics.append(
      Diagnostic(
        node: Syntax(node), message: Mistake(message: message),
        fixIts: repair.map { [$0] } ?? []))
  }

  /// Reports all mistakes to the compiler.
  func report(in context: some MacroExpansionContext) {
    for diagnostic in diagnostics { context.diagnose(diagnostic) }
  }
}
