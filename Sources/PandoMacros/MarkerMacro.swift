import SwiftSyntax
import SwiftSyntaxMacros

/// A marker of a property: it expands to nothing, and the macro of the type reads it.
struct MarkerMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}
