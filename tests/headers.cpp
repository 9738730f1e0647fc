// A program only so that the precompiled headers of the tests have an owner.
int main() {}
