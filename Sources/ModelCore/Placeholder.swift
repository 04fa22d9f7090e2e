// Placeholder until the first source file lands.
