@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntax
import SwiftSyntaxMacros

/// The program that the compiler starts to expand Pando's macros.
///
/// It reads the compiler's messages from standard input and answers them, as `SwiftCompilerPlugin`
/// does, which is not part of the toolchain.
@main struct Plugin {
  static func main() throws {
    let connection = try StandardIOMessageConnection()
    try CompilerPluginMessageListener(connection: connection, provider: MacroProvider()).main()
  }
}

struct MacroProvider: PluginProvider {
  struct UnknownMacro: Error {}

  static var macros: [String: any Macro.Type] {
    [
      "ModelMacro": ModelMacro.self, "EmbeddedMacro": EmbeddedMacro.self,
      "MarkerMacro": MarkerMacro.self,
    ]
  }

  func loadPluginLibrary(libraryPath: String, moduleName: String) throws {}

  func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
    guard let macro = Self.macros[typeName] else { throw UnknownMacro() }
    return macro
  }

  var features: [PluginFeature] { [] }
}
